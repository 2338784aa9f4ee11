/**
 * The rail's codes: Slack's own words for why a webhook did not accept a message, each with its outcome.
 *
 * A webhook that is permanently gone is distinguished from a message that is refused: the webhook is deleted, and the message goes
 * by another channel.
 *
 * Owns: which outcome a word or a status is. Does not own: making the call, or wording the reason.
 */
import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

export const slackWebhookCodes = {
  ...exchangeCodes,
  ...statusCodes,
  webhook_unavailable: { outcome: "retry", meaning: "The address of the webhook could not be read here." },
  webhook_unknown: { outcome: "rejected", meaning: "The person has no webhook any more." },
  webhook_refused: { outcome: "rejected", meaning: "The stored address is not an incoming webhook of Slack." },
  webhook_gone: { outcome: "rejected", meaning: "Slack says that the webhook or its channel no longer exists." },
  message_refused: { outcome: "rejected", meaning: "Slack does not take the message." },
  action_prohibited: { outcome: "rejected", meaning: "An administrator of the workspace forbids it." },
  http_redirect: { outcome: "rejected", meaning: "The answer leads elsewhere, and nothing is sent there." },
  http_429: { outcome: "retry", meaning: "Slack asks for quiet." },
  http_other: { outcome: "retry", meaning: "A status that Slack does not use: a proxy, or the wrong address?" },
} as const satisfies Record<string, RailCode>;

export type SlackWebhookCode = keyof typeof slackWebhookCodes;

const codesByWord: ReadonlyMap<string, SlackWebhookCode> = new Map([
  ["no_service", "webhook_gone"],
  ["no_service_id", "webhook_gone"],
  ["no_active_hooks", "webhook_gone"],
  ["no_team", "webhook_gone"],
  ["team_disabled", "webhook_gone"],
  ["invalid_token", "webhook_gone"],
  ["channel_not_found", "webhook_gone"],
  ["channel_is_archived", "webhook_gone"],
  ["user_not_found", "webhook_gone"],
  ["action_prohibited", "action_prohibited"],
  ["posting_to_general_channel_denied", "action_prohibited"],
  ["invalid_payload", "message_refused"],
  ["invalid_blocks", "message_refused"],
  ["invalid_blocks_format", "message_refused"],
  ["no_text", "message_refused"],
  ["too_many_attachments", "message_refused"],
  ["missing_text_or_fallback_or_attachments", "message_refused"],
]);

/** By the word that Slack answers with, if we know it; otherwise by the status. */
export function codeOfAnswer(status: number, word: string): SlackWebhookCode {
  if (status >= 300 && status <= 399) return "http_redirect";
  if (status === 429) return "http_429";
  const known = status >= 400 && status <= 499 ? codesByWord.get(word) : undefined;
  if (known !== undefined) return known;
  if (status === 410) return "webhook_gone";
  if (status === 400 || status === 413) return "message_refused";
  if (status === 403) return "action_prohibited";
  return codeOfAnyStatus(status) ?? "http_other";
}
