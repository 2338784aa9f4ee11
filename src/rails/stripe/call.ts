/**
 * One call of Stripe's API through Stripe's own client, with its retries switched off.
 *
 * Owns: the result of the call, as data or as a code. Does not own: what a rail makes of it.
 */
import { Stripe } from "stripe";
import { z } from "zod";
import { asksForQuiet } from "../exchange-codes.ts";
import type { Connections, ExchangeAnswer, ExchangeResult } from "../exchange.ts";
import { recordingFetch } from "../exchange-fetch.ts";
import type { RecordingFetch } from "../exchange-fetch.ts";
import type { PauseRequest } from "../../contract/rail.ts";
import { excerptOf } from "../reason.ts";
import { parseRetryAfter } from "../retry-after.ts";
import { codeOfError } from "./codes.ts";
import type { StripeCodeName, StripeErrorFacts } from "./codes.ts";
import { stripeApiUrl, stripeApiVersion } from "./config.ts";
import type { StripeSettings } from "./config.ts";

export interface StripeFailure extends PauseRequest {
  readonly kind: "failure";
  readonly code: StripeCodeName;
  readonly detail?: string;
  /** Stripe's own error fields, from which an operation may know more. */
  readonly facts?: StripeErrorFacts;
}

export type StripeAnswer = { readonly kind: "data"; readonly data: unknown } | StripeFailure;

export type StripeCall = (ask: (stripe: Stripe) => Promise<unknown>, signal: AbortSignal) => Promise<StripeAnswer>;

/** The signal bounds the exchange; the client's own limit must be longer. */
const clientTimeoutMs = 60_000;

/** Stripe keeps a key for at least a day: check four times a day whether it has forgotten it, unless an operation knows better. */
const replayedAfterMs = 6 * 60 * 60 * 1000;

export function createStripeCall(settings: StripeSettings, connections: Connections): StripeCall {
  const { protocol, hostname, port } = new URL(settings.apiUrl ?? stripeApiUrl);
  const secure = protocol === "https:";
  return async (ask, signal) => {
    const recording = recordingFetch(connections, signal);
    // A client for each call costs a tenth of a millisecond, and keeps the results of calls apart.
    const stripe = new Stripe(settings.secretKey, {
      apiVersion: stripeApiVersion,
      httpClient: Stripe.createFetchHttpClient(fetchOf(recording)),
      host: hostname,
      port: port === "" ? (secure ? 443 : 80) : Number(port),
      protocol: secure ? "https" : "http",
      maxNetworkRetries: 0,
      timeout: clientTimeoutMs,
      telemetry: false,
    });
    try {
      const data = await ask(stripe);
      const last = recording.last();
      // The client takes a redirect for an answer, and a truncated answer for a whole one if it parses.
      if (last?.kind !== "answer" || last.status > 299) return failureOf(last, settings.secretKey);
      return { kind: "data", data };
    } catch {
      // The client's own error is derived from the exchange, and less exact.
      return failureOf(recording.last(), settings.secretKey);
    }
  };
}

/** The client passes headers as pairs. */
const headersSchema = z.union([
  z.array(z.tuple([z.string(), z.string()])).transform((pairs) => Object.fromEntries(pairs)),
  z.record(z.string(), z.string()),
]);

function fetchOf({ fetch }: RecordingFetch): typeof globalThis.fetch {
  return async (url, init) => {
    const headers = headersSchema.parse(init?.headers ?? {});
    const method = init?.method ?? "GET";
    return await fetch(url instanceof Request ? url.url : url, { method, headers, body: init?.body ?? "" });
  };
}

function failureOf(result: ExchangeResult | undefined, secretKey: string): StripeFailure {
  if (result === undefined) return { kind: "failure", code: "request_invalid" };
  if (result.kind !== "answer") return { kind: "failure", code: result.code };
  // The client could not read the answer: Stripe may well have done it.
  if (result.status >= 200 && result.status <= 299) return { kind: "failure", code: "bad_answer" };
  const { message, ...facts } = errorOf(result);
  const replayed = result.headers["idempotent-replayed"] === "true";
  const code = codeOfError(result.status, replayed, facts);
  const askedMs = parseRetryAfter(result.headers["retry-after"], result.headers.date, new Date());
  const afterMs = code === "replayed_failure" ? replayedAfterMs : askedMs;
  const said = [`HTTP ${result.status}`, facts.code ?? facts.type ?? ""].filter((part) => part !== "").join(" ");
  const detail = [said, excerptOf(message ?? "", [secretKey])].filter((part) => part !== "").join(": ");
  return {
    kind: "failure",
    code,
    detail,
    facts,
    ...(afterMs === undefined ? {} : { afterMs }),
    // A lock is about one object, and a replayed failure about one key.
    throttled: code === "ratelimited" || (code === "http_5xx" && asksForQuiet(result.status, askedMs)),
  };
}

const word = z.string().max(200).optional().catch(undefined);
const errorSchema = z.object({
  error: z.object({ type: word, code: word, param: word, message: z.string().optional().catch(undefined) }),
});

function errorOf(answer: ExchangeAnswer): StripeErrorFacts & { readonly message?: string | undefined } {
  try {
    return errorSchema.safeParse(JSON.parse(answer.body.toString("utf8"))).data?.error ?? {};
  } catch {
    return {};
  }
}
