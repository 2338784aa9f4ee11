/**
 * One call of GitHub's REST API through GitHub's own client, which retries nothing by itself.
 *
 * Owns: what came of the call, as data or as a code. Does not own: what a rail makes of it.
 */
import { request } from "@octokit/request";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { asksForQuiet } from "../exchange-codes.ts";
import type { Connections, ExchangeAnswer, ExchangeResult } from "../exchange.ts";
import { recordingFetch } from "../exchange-fetch.ts";
import type { PauseRequest } from "../../contract/rail.ts";
import { excerptOf } from "../reason.ts";
import { maxRetryAfterMs, parseHttpDate, parseRetryAfter } from "../retry-after.ts";
import { acceptedPermissions } from "./permissions.ts";
import { codeOfStatus } from "./codes.ts";
import type { GithubActionsCodeName } from "./codes.ts";
import { githubApiUrl } from "./config.ts";
import type { GithubActionsSettings } from "./config.ts";

export interface GithubFailure extends PauseRequest {
  readonly kind: "failure";
  readonly code: GithubActionsCodeName;
  readonly detail?: string;
}

export type GithubAnswer = { readonly kind: "data"; readonly status: number; readonly data: unknown } | GithubFailure;

export type GithubCall = (
  route: string,
  parameters: Record<string, unknown>,
  signal: AbortSignal,
) => Promise<GithubAnswer>;

export function createGithubCall(settings: GithubActionsSettings, connections: Connections): GithubCall {
  return async (route, parameters, signal) => {
    const { fetch, last } = recordingFetch(connections, signal);
    try {
      const { status, data } = await request(route, {
        ...parameters,
        baseUrl: (settings.apiUrl ?? githubApiUrl).replace(/\/+$/, ""),
        headers: {
          accept: "application/vnd.github+json",
          authorization: `Bearer ${settings.token}`,
          "user-agent": "Headroom",
          "x-github-api-version": "2022-11-28",
        },
        request: { fetch, log: silent },
      });
      const answer: unknown = data;
      // The client takes a redirect for an answer.
      if (status > 299) return failureOf(last(), settings.token, new Date());
      return { kind: "data", status, data: answer };
    } catch {
      // What the client throws is derived from the exchange, and less exact.
      return failureOf(last(), settings.token, new Date());
    }
  };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

function failureOf(result: ExchangeResult | undefined, token: string, now: Date): GithubFailure {
  if (result === undefined) return { kind: "failure", code: "request_invalid" };
  if (result.kind !== "answer") return { kind: "failure", code: result.code };
  // An answer that the client could not read: GitHub may well have done it.
  if (result.status >= 200 && result.status <= 299) return { kind: "failure", code: "bad_answer" };
  const afterMs = quietOf(result.headers, now);
  const isUsedUp = afterMs !== undefined || result.headers["x-ratelimit-remaining"] === "0";
  const code = codeOfStatus(result.status, isUsedUp);
  const needed = code === "http_403" ? acceptedPermissions(result.headers["x-accepted-github-permissions"]) : "";
  // What is needed comes before GitHub's own words, which may be long and cut off.
  const answered = needed === "" ? `HTTP ${result.status}` : `HTTP ${result.status}, GitHub asks for ${needed}`;
  const detail = [answered, excerptOf(messageOf(result), [token])].filter((part) => part !== "");
  const throttled = code === "ratelimited" || asksForQuiet(result.status, afterMs);
  return {
    kind: "failure",
    code,
    detail: detail.join(": "),
    ...(afterMs === undefined ? {} : { afterMs }),
    throttled,
  };
}

const errorSchema = z.object({ message: z.string() });

function messageOf(answer: ExchangeAnswer): string {
  try {
    return errorSchema.safeParse(JSON.parse(answer.body.toString("utf8"))).data?.message ?? "";
  } catch {
    return "";
  }
}

/** How long GitHub asks us to wait: by Retry-After, or until the limit that is used up begins anew. */
export function quietOf(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const askedMs = parseRetryAfter(headers["retry-after"], headers.date, now);
  if (askedMs !== undefined) return askedMs;
  const reset = headers["x-ratelimit-reset"];
  if (headers["x-ratelimit-remaining"] !== "0" || typeof reset !== "string" || !/^\d{1,12}$/.test(reset))
    return undefined;
  const from = (headers.date === undefined ? undefined : parseHttpDate(headers.date, now)) ?? now.getTime();
  return Math.min(Math.max(0, Number(reset) * 1000 - from), maxRetryAfterMs);
}
