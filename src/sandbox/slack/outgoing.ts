/**
 * What Slack sends to an app: forms and events, signed over their exact bytes, with three seconds to answer.
 */
import { hmacSha256 } from "../../db/hash.ts";
import type { SendResult } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";

const path = "/webhooks/slack";
/** Slack treats an app that has not answered by then as failed. */
export const acknowledgeWithinMs = 3_000;
/** An event that was not acknowledged is sent again: immediately, after a minute, and after five. */
const eventRepeatsMs = [0, 60_000, 300_000] as const;

export function signature(secret: string, timestamp: string, body: string): string {
  return `v0=${hmacSha256(secret, `v0:${timestamp}:${body}`)}`;
}

function signed(world: World, contentType: string, body: string): Record<string, string> {
  const timestamp = String(Math.floor(world.now() / 1000));
  return {
    "content-type": contentType,
    "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
    "x-slack-request-timestamp": timestamp,
    "x-slack-signature": signature(world.secrets.slackSigningSecret, timestamp, body),
  };
}

/** A slash command, or an interaction as the one field `payload`. */
export function sendForm(world: World, title: string, fields: Readonly<Record<string, string>>): Promise<SendResult> {
  const body = new URLSearchParams(fields).toString();
  return world.webhooks.send({
    provider: "slack",
    title,
    path,
    body,
    headers: () => signed(world, "application/x-www-form-urlencoded", body),
    timeoutMs: acknowledgeWithinMs,
  });
}

export function sendEvent(world: World, title: string, event: Readonly<Record<string, unknown>>): Promise<SendResult> {
  const body = JSON.stringify(event);
  return world.webhooks.send({
    provider: "slack",
    title,
    path,
    body,
    headers: (tryNumber) => ({
      ...signed(world, "application/json", body),
      ...(tryNumber === 0 ? {} : { "x-slack-retry-num": String(tryNumber), "x-slack-retry-reason": "http_timeout" }),
    }),
    timeoutMs: acknowledgeWithinMs,
    retryAfterMs: eventRepeatsMs,
  });
}

/** The error code that Slack shows to the person; undefined if the app answered correctly. */
export function failureOf(arrival: SendResult): string | undefined {
  if (arrival.kind === "timeout") return "operation_timeout";
  if (arrival.kind === "unreachable") return "dispatch_failed";
  if (arrival.status >= 200 && arrival.status < 300) return undefined;
  return arrival.status >= 500 ? "http_service_error" : "http_client_error";
}
