/**
 * The rail `github-actions`: starts a workflow by `workflow_dispatch`.
 *
 * Owns: turning a row into a dispatch and an answer into an outcome, and the search for a run. Does not own: the workflow,
 * whose `run-name` must show the job's id, nor what becomes of the run.
 */
import { z } from "zod";
import { outcomeOfCode } from "../exchange-codes.ts";
import { openConnections } from "../exchange.ts";
import { problemsOf, requireSettings } from "../fields.ts";
import type {
  Json,
  LookupOutcome,
  Rail,
  RailContext,
  RailMessage,
  RailOutcome,
  Validation,
} from "../../contract/rail.ts";
import { reasonOf } from "../reason.ts";
import { createVisibility } from "../visibility.ts";
import type { Visibility } from "../visibility.ts";
import { createGithubCall } from "./call.ts";
import type { GithubAnswer, GithubCall, GithubFailure } from "./call.ts";
import { githubActionsCodes } from "./codes.ts";
import { githubActionsSettingsSchema } from "./config.ts";
import type { GithubActionsSettings } from "./config.ts";
import { dispatchSchema, inputsOf, names } from "./message.ts";
import type { Dispatch } from "./message.ts";

export interface GithubActionsRailOptions extends GithubActionsSettings {
  /** Hard limit of one call, and of one search for a run. Default: 20,000. */
  readonly timeoutMs?: number;
  /** Calls under way at once. Default: 10. */
  readonly concurrency?: number;
  /** How long after a dispatch whose outcome is unknown a run that is not found may still appear. Default: 30,000. */
  readonly visibleAfterMs?: number;
}

export interface GithubActionsRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

const defaults = {
  timeoutMs: 20_000,
  concurrency: 10,
  visibleAfterMs: 30_000,
} satisfies Partial<GithubActionsRailOptions>;

interface Github {
  readonly call: GithubCall;
  readonly visibility: Visibility;
  /** Whether the server can answer with the run; false once it turned out to be an older one. */
  knowsRunDetails: boolean;
}

export function createGithubActionsRail(options: GithubActionsRailOptions): GithubActionsRail {
  const { timeoutMs, concurrency, visibleAfterMs } = { ...defaults, ...options };
  const settings = requireSettings("github-actions", githubActionsSettingsSchema, options);
  const connections = openConnections();
  const github: Github = {
    call: createGithubCall(settings, connections),
    visibility: createVisibility(visibleAfterMs),
    knowsRunDetails: true,
  };
  return {
    name: "github-actions",
    capability: "lookup",
    timeoutMs,
    concurrency,
    codes: Object.keys(githubActionsCodes),
    validate: ({ payload }) => validate(payload),
    send: (message, context) => github.visibility.during(message.outboxId, () => send(github, message, context)),
    lookup: (message, context) => lookUp(github, message, context),
    close: () => connections.close(),
  };
}

function validate(payload: Json): Validation {
  const parsed = dispatchSchema.safeParse(payload);
  return parsed.success ? { ok: true } : { ok: false, reason: reasonOf(problemsOf(parsed.error)) };
}

const startedSchema = z.object({ workflow_run_id: z.int(), html_url: z.string().optional().catch(undefined) });

async function send(github: Github, message: RailMessage, { signal }: RailContext): Promise<RailOutcome> {
  const dispatch = dispatchSchema.parse(message.payload);
  const answer = await dispatchOnce(github, dispatch, signal);
  if (answer.kind === "failure") return outcomeOf(answer);
  // What an older server answers; it says nothing about the run.
  if (answer.status === 204) return { kind: "delivered", code: "204" };
  const started = startedSchema.safeParse(answer.data).data;
  if (started === undefined) return outcomeOf({ kind: "failure", code: "bad_answer" });
  const { workflow_run_id: id, html_url: url } = started;
  const run = { id, ...(url === undefined ? {} : { url }) };
  return { kind: "delivered", code: String(answer.status), reference: String(id), response: { run } };
}

/**
 * A server that does not know the field for the run's details refuses it with 422, as it does a bad branch or bad inputs.
 * Nothing was started then, so the same request without the field tells which of them it was.
 */
async function dispatchOnce(github: Github, dispatch: Dispatch, signal: AbortSignal): Promise<GithubAnswer> {
  const { owner, repo, workflow, ref } = dispatch;
  const plain = { owner, repo, workflow_id: workflow, ref, inputs: inputsOf(dispatch) };
  const route = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
  if (!github.knowsRunDetails) return await github.call(route, plain, signal);
  const answer = await github.call(route, { ...plain, return_run_details: true }, signal);
  if (answer.kind !== "failure" || answer.code !== "http_422") return answer;
  const second = await github.call(route, plain, signal);
  if (second.kind === "data") github.knowsRunDetails = false;
  return second;
}

/** GitHub's clock and the database's differ by seconds. */
const clockMarginMs = 60_000;
const pageSize = 100;
const maxPages = 10;

const runsSchema = z.object({
  workflow_runs: z.array(
    z.object({
      id: z.int(),
      display_title: z.string().optional().catch(undefined),
      name: z.string().optional().catch(undefined),
      html_url: z.string().optional().catch(undefined),
    }),
  ),
});

async function lookUp(github: Github, message: RailMessage, { signal }: RailContext): Promise<LookupOutcome> {
  const dispatch = dispatchSchema.parse(message.payload);
  const { owner, repo, workflow, job_id: jobId } = dispatch;
  const since = new Date(message.createdAt.getTime() - clockMarginMs).toISOString().replace(/\.\d{3}Z$/, "Z");
  const where = {
    owner,
    repo,
    workflow_id: workflow,
    event: "workflow_dispatch",
    created: `>=${since}`,
    per_page: pageSize,
  };
  for (let page = 1; page <= maxPages; page += 1) {
    const route = "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs";
    const answer = await github.call(route, { ...where, page }, signal);
    if (answer.kind === "failure") return unavailable(answer);
    const read = runsSchema.safeParse(answer.data).data;
    if (read === undefined) return unavailable({ kind: "failure", code: "bad_answer" });
    const run = read.workflow_runs.find((each) => names(each.display_title ?? each.name ?? "", jobId));
    if (run !== undefined) {
      const response = { run: { id: run.id, ...(run.html_url === undefined ? {} : { url: run.html_url }) } };
      return { kind: "found", reference: String(run.id), response };
    }
    if (read.workflow_runs.length < pageSize) return missed(github, message);
  }
  // What was not read to the end proves nothing.
  return unavailable({ kind: "failure", code: "too_many_to_search" });
}

function missed(github: Github, message: RailMessage): LookupOutcome {
  const afterMs = message.uncertain ? github.visibility.missed(message.outboxId) : 0;
  return afterMs === 0 ? { kind: "absent" } : unavailable({ kind: "failure", code: "may_still_appear", afterMs });
}

function unavailable(failure: GithubFailure): LookupOutcome {
  const { code, afterMs } = failure;
  return { kind: "unavailable", code, reason: wording(failure), ...(afterMs === undefined ? {} : { afterMs }) };
}

function outcomeOf(failure: GithubFailure): RailOutcome {
  return outcomeOfCode(githubActionsCodes[failure.code].outcome, failure.code, wording(failure), failure);
}

function wording({ code, detail }: GithubFailure): string {
  const { meaning } = githubActionsCodes[code];
  return reasonOf(detail === undefined ? meaning : `${meaning} (${detail})`);
}
