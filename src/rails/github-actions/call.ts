/**
 * One call of GitHub's REST API.
 *
 * Owns: the result of the call, as data or as a code. Does not own: what a rail makes of it.
 */
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { asksForQuiet } from "../exchange-codes.ts";
import { exchange } from "../exchange.ts";
import type { Connections, ExchangeAnswer, ExchangeResult } from "../exchange.ts";
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

/** `route` is as in GitHub's reference: `GET /repos/{owner}/{repo}`. Parameters not in it go into the query, or into the body of a POST. */
export type GithubCall = (
  route: string,
  parameters: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<GithubAnswer>;

const maxResponseBytes = 8 * 1024 * 1024;

export function createGithubCall(settings: GithubActionsSettings, connections: Connections): GithubCall {
  const base = (settings.apiUrl ?? githubApiUrl).replace(/\/+$/, "");
  return async (route, parameters, signal) => {
    const { method, url, body } = requestOf(base, route, parameters);
    const headers = {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${settings.token}`,
      "user-agent": "Headroom",
      "x-github-api-version": "2022-11-28",
      ...(body === "" ? {} : { "content-type": "application/json; charset=utf-8" }),
    };
    const request = { method, url, headers, body: Buffer.from(body), maxResponseBytes };
    const result = await exchange(request, connections, signal);
    if (result.kind === "answer" && result.status >= 200 && result.status <= 299) {
      return { kind: "data", status: result.status, data: jsonOf(result) };
    }
    return failureOf(result, settings.token, new Date());
  };
}

function requestOf(base: string, route: string, parameters: Readonly<Record<string, unknown>>) {
  const [method = "", template = ""] = route.split(" ");
  const rest = new Map(Object.entries(parameters));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name));
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const url = new URL(base + path);
  if (method === "POST") return { method, url, body: rest.size === 0 ? "" : JSON.stringify(Object.fromEntries(rest)) };
  for (const [name, value] of rest) url.searchParams.set(name, String(value));
  return { method, url, body: "" };
}

/** Undefined if it is not JSON, such as an empty body. */
function jsonOf(answer: ExchangeAnswer): unknown {
  try {
    return JSON.parse(answer.body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function failureOf(result: ExchangeResult, token: string, now: Date): GithubFailure {
  if (result.kind !== "answer") return { kind: "failure", code: result.code };
  // Not a status of HTTP: GitHub may well have done it.
  if (result.status < 300 || result.status > 599) return { kind: "failure", code: "bad_answer" };
  const afterMs = quietOf(result.headers, now);
  const isUsedUp = afterMs !== undefined || result.headers["x-ratelimit-remaining"] === "0";
  const code = codeOfStatus(result.status, isUsedUp);
  const needed = code === "http_403" ? acceptedPermissions(result.headers["x-accepted-github-permissions"]) : "";
  // The needed permission comes before GitHub's own message, which may be long and cut off.
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
  return errorSchema.safeParse(jsonOf(answer)).data?.message ?? "";
}

/** How long GitHub asks us to wait: by Retry-After, or until the limit that is used up is reset. */
export function quietOf(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const askedMs = parseRetryAfter(headers["retry-after"], headers.date, now);
  if (askedMs !== undefined) return askedMs;
  const reset = headers["x-ratelimit-reset"];
  if (headers["x-ratelimit-remaining"] !== "0" || typeof reset !== "string" || !/^\d{1,12}$/.test(reset))
    return undefined;
  const from = (headers.date === undefined ? undefined : parseHttpDate(headers.date, now)) ?? now.getTime();
  return Math.min(Math.max(0, Number(reset) * 1000 - from), maxRetryAfterMs);
}
