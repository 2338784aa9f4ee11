/**
 * The rail `slack-webhook`: posts to a person's own incoming webhook in Slack. A webhook cannot be asked what it accepted, so it is blind.
 *
 * Its address is the whole credential. It is read at the moment of sending (the function is injected), is in no row, and no answer
 * that might hold it is repeated. Whatever is stored, requests go only to Slack's own hosts; redirects are not followed.
 *
 * Owns: the request and what its answer means. Does not own: where addresses are kept, retries.
 */
import { HeadroomError } from "../../db/errors.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { Rail, RailContext, RailMessage, RailOutcome } from "../../contract/rail.ts";
import { asksForQuiet, outcomeOfCode } from "../exchange-codes.ts";
import { exchange, openConnections } from "../exchange.ts";
import type { Connections, ExchangeAnswer } from "../exchange.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import { reasonOf } from "../reason.ts";
import { parseRetryAfter } from "../retry-after.ts";
import { codeOfAnswer, slackWebhookCodes, type SlackWebhookCode } from "./codes.ts";
import { slackWebhookSettingsSchema, webhookUrl, type SlackWebhookSettings } from "./config.ts";
import { webhookMessageSchema } from "./message.ts";

/** The address that a row goes to; throws not_found if there is none. It is used for the call and not kept. */
export type WebhookAddress = (message: RailMessage, signal: AbortSignal) => Promise<string>;

export interface SlackWebhookRailOptions extends SlackWebhookSettings {
  readonly address: WebhookAddress;
  /** Hard limit of one call. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Calls under way at once. Default: the relay's own limit. */
  readonly concurrency?: number;
}

export interface SlackWebhookRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = { timeoutMs: 15_000 } satisfies Partial<SlackWebhookRailOptions>;
const maxResponseBytes = 4_096;

export function createSlackWebhookRail(options: SlackWebhookRailOptions): SlackWebhookRail {
  const { timeoutMs, concurrency, address } = { ...defaults, ...options };
  const settings = requireSettings("slack-webhook", slackWebhookSettingsSchema, options);
  const connections = openConnections();
  return {
    name: "slack-webhook",
    capability: "blind",
    timeoutMs,
    ...(concurrency === undefined ? {} : { concurrency }),
    codes: Object.keys(slackWebhookCodes),
    validate({ payload }) {
      const parsed = webhookMessageSchema.safeParse(payload);
      return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
    },
    async send(message, context) {
      const url = await urlOf(address, message, settings, context);
      return typeof url === "string" ? outcomeOf(url) : post(url, message, connections, context);
    },
    close: () => connections.close(),
  };
}

async function urlOf(
  address: WebhookAddress,
  message: RailMessage,
  settings: SlackWebhookSettings,
  { signal }: RailContext,
): Promise<URL | SlackWebhookCode> {
  if (signal.aborted) return "aborted_before_send";
  try {
    const found = await withTimeout(address(message, signal), signal);
    if (found.kind !== "done") return "aborted_before_send";
    return webhookUrl(found.value, settings) ?? "webhook_refused";
  } catch (error) {
    // Its error may quote a connection string or the address, so it is not repeated.
    const none = error instanceof HeadroomError && error.code === "not_found";
    return none ? "webhook_unknown" : "webhook_unavailable";
  }
}

async function post(
  url: URL,
  message: RailMessage,
  connections: Connections,
  { signal }: RailContext,
): Promise<RailOutcome> {
  const headers = { "content-type": "application/json", "user-agent": "Headroom" };
  const body = Buffer.from(JSON.stringify(webhookMessageSchema.parse(message.payload)));
  const result = await exchange({ url, headers, body, maxResponseBytes }, connections, signal);
  return result.kind === "answer" ? read(result) : outcomeOf(result.code);
}

/** Slack answers a webhook with one word, which is `ok` only if it accepted the message. */
function read({ status, headers, body }: ExchangeAnswer): RailOutcome {
  const said = body.toString("utf8").trim();
  if (status === 200) return said === "ok" ? { kind: "delivered", code: "ok" } : outcomeOf("bad_answer");
  const afterMs = parseRetryAfter(headers["retry-after"], headers.date, new Date());
  const code = codeOfAnswer(status, /^[a-z_]{1,60}/.exec(said)?.[0] ?? "");
  return outcomeOf(code, `HTTP ${status}`, {
    ...(afterMs === undefined ? {} : { afterMs }),
    throttled: asksForQuiet(status, afterMs),
  });
}

function outcomeOf(
  code: SlackWebhookCode,
  detail?: string,
  pause: { readonly afterMs?: number; readonly throttled?: boolean } = {},
): RailOutcome {
  const { outcome, meaning } = slackWebhookCodes[code];
  const made = outcomeOfCode(outcome, code, reasonOf(detail === undefined ? meaning : `${meaning} (${detail})`), pause);
  return code === "webhook_gone" && made.kind === "rejected" ? { ...made, gone: true } : made;
}
