/**
 * The exchange wrapped as a `fetch` function, so that a provider's own client library can be used and we still know how far
 * a call got: libraries turn every failure into one kind of error, and a rail must distinguish "never sent" from "lost".
 *
 * Owns: the translation, and the result of the last exchange. Does not own: what an answer means.
 */
import { exchange } from "./exchange.ts";
import type { Connections, ExchangeFailure, ExchangeResult } from "./exchange.ts";

/** What a library gets for an exchange without an answer. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
  readonly failure: ExchangeFailure;

  constructor(failure: ExchangeFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

/** The part of `RequestInit` that client libraries use. */
export interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface RecordingFetch {
  readonly fetch: (url: string | URL, init?: FetchInit) => Promise<Response>;
  /** The result of the last call; undefined if the library made none. */
  readonly last: () => ExchangeResult | undefined;
}

/** Longer answers are cut off, and then are not valid JSON. */
const maxResponseBytes = 8 * 1024 * 1024;

/** For one call of a rail, with that call's signal. */
export function recordingFetch(connections: Connections, signal: AbortSignal): RecordingFetch {
  let last: ExchangeResult | undefined;
  return {
    async fetch(url, init = {}) {
      const { method = "GET", headers = {}, body = "" } = init;
      if (typeof body !== "string") throw new TypeError("only text can be sent");
      const request = { method, url: new URL(url), headers, body: Buffer.from(body), maxResponseBytes };
      last = await exchange(request, connections, signal);
      if (last.kind !== "answer") throw new ExchangeError(last);
      if (last.status < 200 || last.status > 599) {
        last = { kind: "maybe_sent", code: "bad_answer" };
        throw new ExchangeError(last);
      }
      return responseOf(last);
    },
    last: () => last,
  };
}

/** These have no body, and the platform throws if given one. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

function responseOf(answer: Extract<ExchangeResult, { kind: "answer" }>): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? ""]) headers.append(name, each);
  }
  const body = bodiless.has(answer.status) ? null : new Uint8Array(answer.body);
  return new Response(body, { status: answer.status, headers });
}
