/**
 * The settings of the Linear rail, as data.
 *
 * Owns: validation and documentation of the settings. Does not own: where they come from.
 */
import { z } from "zod";
import type { RailField } from "../fields.ts";

export interface LinearSettings {
  readonly apiKey: string;
  readonly apiUrl?: string | undefined;
}

export const linearApiUrl = "https://api.linear.app/graphql";

const schemas = {
  apiKey: z.string("must be a string").regex(/^[\x21-\x7e]{8,500}$/, "8 to 500 printable characters without spaces"),
  apiUrl: z.url({ protocol: /^https?$/, error: "an http or https address" }).optional(),
} satisfies Record<keyof LinearSettings, z.ZodType>;

export const linearSettingsSchema = z.object(schemas);

export const linearFields: readonly (RailField & { readonly name: keyof LinearSettings })[] = [
  {
    name: "apiKey",
    label: "API key",
    help: "A personal API key, or an access token of an app, that may write to the teams' issues.",
    example: "lin_api_<letters>",
    secret: true,
    required: true,
    schema: schemas.apiKey,
  },
  {
    name: "apiUrl",
    label: "API address",
    help: "Where the GraphQL API is, when it is not Linear's own: a sandbox, or a proxy.",
    example: linearApiUrl,
    secret: false,
    required: false,
    schema: schemas.apiUrl,
  },
];
