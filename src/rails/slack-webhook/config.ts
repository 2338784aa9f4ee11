/**
 * The settings of the rail, and which addresses are incoming webhooks of Slack.
 *
 * Owns: validation and documentation of the settings, and the rule about hosts. Does not own: where an address is kept.
 */
import { z } from "zod";
import type { RailField } from "../fields.ts";

export interface SlackWebhookSettings {
  readonly hooksUrl?: string | undefined;
}

const schemas = {
  hooksUrl: z.url({ protocol: /^https?$/, error: "an http or https address" }).optional(),
} satisfies Record<keyof SlackWebhookSettings, z.ZodType>;

export const slackWebhookSettingsSchema = z.object(schemas);

export const slackWebhookFields: readonly (RailField & { readonly name: keyof SlackWebhookSettings })[] = [
  {
    name: "hooksUrl",
    label: "Address of webhooks",
    help: "Replaces `https://hooks.slack.com/` where a sandbox or a proxy is used.",
    example: "https://hooks.slack.com/",
    secret: false,
    required: false,
    schema: schemas.hooksUrl,
  },
];

/** The same rule as notify.set_slack_webhook(): Slack's own hosts, and nothing but the path of a webhook. */
const webhookPattern =
  /^https:\/\/hooks\.slack(?:-gov)?\.com(\/services\/[A-Za-z0-9]{1,40}\/[A-Za-z0-9]{1,40}\/[A-Za-z0-9]{1,80})$/;

/** Where to send to; undefined if it is not a webhook of Slack, whoever stored it. */
export function webhookUrl(address: string, { hooksUrl }: SlackWebhookSettings): URL | undefined {
  const path = webhookPattern.exec(address)?.[1];
  if (path === undefined) return undefined;
  return new URL(hooksUrl === undefined ? address : `${hooksUrl.replace(/\/+$/, "")}${path}`);
}
