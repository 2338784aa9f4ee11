/**
 * One GraphQL request to Linear, with its result as data or as a code.
 *
 * Owns: the documents, the request, and reading errors and limits. Does not own: what a rail makes of them.
 */
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { asksForQuiet } from "../exchange-codes.ts";
import { exchange } from "../exchange.ts";
import type { Connections, ExchangeAnswer } from "../exchange.ts";
import type { PauseRequest } from "../../contract/rail.ts";
import { maxRetryAfterMs, parseHttpDate, parseRetryAfter } from "../retry-after.ts";
import { codeOfError, codeOfStatus } from "./codes.ts";
import type { LinearCodeName } from "./codes.ts";
import { linearApiUrl } from "./config.ts";
import type { LinearSettings } from "./config.ts";

export const documents = {
  issueCreate: `mutation IssueCreate($input: IssueCreateInput!) {
    issueCreate(input: $input) { success issue { id identifier url } } }`,
  issueUpdate: `mutation IssueUpdate($id: String!, $input: IssueUpdateInput!) {
    issueUpdate(id: $id, input: $input) { success issue { id identifier url } } }`,
  commentCreate: `mutation CommentCreate($input: CommentCreateInput!) {
    commentCreate(input: $input) { success comment { id url } } }`,
  viewer: `query Viewer { viewer { name } }`,
  issue: `query Issue($id: String!) { issue(id: $id) { id identifier url } }`,
  comment: `query Comment($id: String!) { comment(id: $id) { id url } }`,
  states: `query States($teamId: String!) {
    team(id: $teamId) { states(first: 100) { nodes { id type position } } } }`,
} as const;

export interface LinearFailure extends PauseRequest {
  readonly kind: "failure";
  readonly code: LinearCodeName;
  readonly detail?: string;
}

export type LinearAnswer = { readonly kind: "data"; readonly data: unknown } | LinearFailure;

export type LinearQuery = (
  document: keyof typeof documents,
  variables: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<LinearAnswer>;

const maxResponseBytes = 1024 * 1024;

export function createLinearQuery(settings: LinearSettings, connections: Connections): LinearQuery {
  const url = new URL(settings.apiUrl ?? linearApiUrl);
  const { apiKey } = settings;
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "Headroom",
    // A personal key is sent as it is; an app's token as a bearer token.
    authorization: apiKey.startsWith("lin_oauth_") ? `Bearer ${apiKey}` : apiKey,
  };
  return async (document, variables, signal) => {
    const body = Buffer.from(JSON.stringify({ query: documents[document], variables }));
    const result = await exchange({ url, headers, body, maxResponseBytes }, connections, signal);
    if (result.kind !== "answer") return { kind: "failure", code: result.code };
    return readAnswer(result, new Date());
  };
}

/** Linear's own code of an error. Its message may quote the request with what people wrote, and the archive is never changed. */
function wordOf(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w -]{1,60}$/.test(text) ? text : undefined;
}

const bodySchema = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z
    .array(
      z.object({
        message: z.string().catch(""),
        extensions: z
          .object({ code: z.string().optional().catch(undefined), type: z.string().optional().catch(undefined) })
          .optional()
          .catch(undefined),
      }),
    )
    .nullish(),
});

export function readAnswer(answer: ExchangeAnswer, now: Date): LinearAnswer {
  const body = bodySchema.safeParse(parseJson(answer.body)).data;
  const error = body?.errors?.[0];
  const said = error === undefined ? undefined : codeOfError(error.extensions?.code, error.extensions?.type);
  // An unknown code is a refusal, unless the server failed.
  if (error !== undefined && said !== undefined && (said !== "linear_error" || answer.status < 500)) {
    const { code, type } = error.extensions ?? {};
    return failureOf(said, wordOf(code) ?? wordOf(type) ?? `HTTP ${answer.status}`, answer, now);
  }
  if (answer.status !== 200) return failureOf(codeOfStatus(answer.status), `HTTP ${answer.status}`, answer, now);
  if (body?.data === undefined || body.data === null) return { kind: "failure", code: "bad_answer" };
  return { kind: "data", data: body.data };
}

function failureOf(code: LinearCodeName, detail: string, answer: ExchangeAnswer, now: Date): LinearFailure {
  const { headers, status } = answer;
  const quiet = code === "ratelimited";
  const afterMs =
    parseRetryAfter(headers["retry-after"], headers.date, now) ?? (quiet ? untilReset(headers, now) : undefined);
  const throttled = quiet || asksForQuiet(status, afterMs);
  return { kind: "failure", code, detail, ...(afterMs === undefined ? {} : { afterMs }), throttled };
}

const limits = ["requests", "complexity", "endpoint-requests"] as const;

/**
 * How long until the limits that are used up are reset. The times are by Linear's clock, so they are measured from the
 * date of the same answer if it has one.
 */
export function untilReset(headers: IncomingHttpHeaders, now: Date): number | undefined {
  const from = (headers.date === undefined ? undefined : parseHttpDate(headers.date, now)) ?? now.getTime();
  const waits = limits.flatMap((limit) => {
    if (numberOf(headers[`x-ratelimit-${limit}-remaining`]) !== 0) return [];
    const reset = numberOf(headers[`x-ratelimit-${limit}-reset`]);
    return reset === undefined ? [] : [reset - from];
  });
  if (waits.length === 0) return undefined;
  return Math.min(Math.max(0, ...waits), maxRetryAfterMs);
}

function numberOf(value: string | string[] | undefined): number | undefined {
  return typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : undefined;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
