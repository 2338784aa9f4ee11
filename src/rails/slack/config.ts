/**
 * The settings of the Slack rails, as data.
 *
 * Owns: validation and documentation of the settings. Does not own: where they come from (the command line reads the
 * environment).
 */
import { z } from "zod";
import type { RailField } from "../fields.ts";

export interface SlackSettings {
  readonly token: string;
  readonly apiUrl?: string | undefined;
}

const schemas = {
  token: z.string("must be a string").regex(/^[\x21-\x7e]{8,500}$/, "8 to 500 printable characters without spaces"),
  apiUrl: z.url({ protocol: /^https?$/, error: "an http or https address" }).optional(),
} satisfies Record<keyof SlackSettings, z.ZodType>;

export const slackSettingsSchema = z.object(schemas);

export const slackFields: readonly (RailField & { readonly name: keyof SlackSettings })[] = [
  {
    name: "token",
    label: "Bot token",
    help: "Scopes: chat:write, im:write, and channels:history, groups:history, im:history to look up what is uncertain.",
    example: "xoxb-<numbers>-<letters>",
    secret: true,
    required: true,
    schema: schemas.token,
  },
  {
    name: "apiUrl",
    label: "API address",
    help: "Where the Web API is, when it is not Slack's own: a sandbox, or a proxy.",
    example: "https://slack.com/api/",
    secret: false,
    required: false,
    schema: schemas.apiUrl,
  },
];
