/**
 * The settings of the GitHub Actions rail, as data.
 *
 * Owns: validation and documentation of the settings. Does not own: where they come from.
 */
import { z } from "zod";
import type { RailField } from "../fields.ts";

export interface GithubActionsSettings {
  readonly token: string;
  readonly apiUrl?: string | undefined;
}

export const githubApiUrl = "https://api.github.com";

const schemas = {
  token: z.string("must be a string").regex(/^[\x21-\x7e]{4,500}$/, "4 to 500 printable characters without spaces"),
  apiUrl: z.url({ protocol: /^https?$/, error: "an http or https address" }).optional(),
} satisfies Record<keyof GithubActionsSettings, z.ZodType>;

export const githubActionsSettingsSchema = z.object(schemas);

export const githubActionsFields: readonly (RailField & { readonly name: keyof GithubActionsSettings })[] = [
  {
    name: "token",
    label: "Token",
    help: "Of an app or a person, with Actions: write and Contents: read in the repositories that run workflows.",
    example: "github_pat_<letters>",
    secret: true,
    required: true,
    schema: schemas.token,
  },
  {
    name: "apiUrl",
    label: "API address",
    help: "Where the REST API is, when it is not GitHub's own: an enterprise server, or a sandbox.",
    example: githubApiUrl,
    secret: false,
    required: false,
    schema: schemas.apiUrl,
  },
];
