/**
 * One call of Slack's Web API through Slack's own client, with its retries, its queue and its log switched off.
 *
 * Owns: the result of the call, as a code. Does not own: what a rail makes of it.
 */
import { LogLevel, WebClient } from "@slack/web-api";
import type { Logger } from "@slack/web-api";
import { z } from "zod";
import { asksForQuiet } from "../exchange-codes.ts";
import type { Connections, ExchangeResult } from "../exchange.ts";
import { recordingFetch } from "../exchange-fetch.ts";
import type { PauseRequest } from "../../contract/rail.ts";
import { excerptOf } from "../reason.ts";
import { parseRetryAfter } from "../retry-after.ts";
import { codeOfStatus, codeOfWord, isThrottling } from "./codes.ts";
import type { SlackCodeName } from "./codes.ts";
import type { SlackSettings } from "./config.ts";

export interface SlackFailure extends PauseRequest {
  readonly kind: "failure";
  readonly code: SlackCodeName;
  /** Slack's word or the status, safe to show; the code says which kind it is. */
  readonly detail?: string;
}

export type SlackAnswer = { readonly kind: "ok"; readonly result: unknown } | SlackFailure;

export type SlackCall = (method: string, args: Record<string, unknown>, signal: AbortSignal) => Promise<SlackAnswer>;

/**
 * The client belongs to one call: only its `fetch` can pass on that call's signal, and report how far the
 * call got.
 */
export function createSlackCall(settings: SlackSettings, connections: Connections): SlackCall {
  return async (method, args, signal) => {
    const { fetch, last } = recordingFetch(connections, signal);
    const client = new WebClient(settings.token, {
      ...(settings.apiUrl === undefined ? {} : { slackApiUrl: settings.apiUrl }),
      allowAbsoluteUrls: false,
      fetch,
      logger: silent,
      rejectRateLimitedCalls: true,
      retryConfig: { retries: 0 },
    });
    try {
      return { kind: "ok", result: await client.apiCall(method, args) };
    } catch {
      // The client's own error is derived from the exchange, and less exact.
      return failureOf(last(), settings);
    }
  };
}

const refusalSchema = z.object({ ok: z.literal(false), error: z.string() });

function failureOf(result: ExchangeResult | undefined, { token }: SlackSettings): SlackFailure {
  if (result === undefined) return { kind: "failure", code: "request_invalid" };
  if (result.kind !== "answer") return { kind: "failure", code: result.code };
  const { headers, status } = result;
  const afterMs = parseRetryAfter(headers["retry-after"], headers.date, new Date());
  const failure = (code: SlackCodeName, detail: string): SlackFailure => {
    const throttled = isThrottling(code) || asksForQuiet(status, afterMs);
    return { kind: "failure", code, detail, ...(afterMs === undefined ? {} : { afterMs }), throttled };
  };
  const refusal = refusalSchema.safeParse(parseJson(result.body));
  const unavailable = status === 503 && refusal.data?.error === "service_unavailable";
  if (status !== 200 && !unavailable) return failure(codeOfStatus(status), `HTTP ${status}`);
  // The answer was cut off or is not Slack's: the call may well have been carried out.
  if (!refusal.success) return { kind: "failure", code: "bad_answer" };
  return failure(codeOfWord(refusal.data.error), excerptOf(refusal.data.error, [token]));
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

/** The client's own log would contain texts of messages. */
const silent: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};
