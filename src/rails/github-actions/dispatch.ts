/**
 * Starting a workflow by `workflow_dispatch`, which is not idempotent: after a lost answer, the rail looks for the run.
 */
import { z } from "zod";
import type { Json, LookupOutcome, RailMessage, RailOutcome } from "../../contract/rail.ts";
import type { Visibility } from "../visibility.ts";
import type { GithubAnswer, GithubCall } from "./call.ts";
import { inputsOf, markOf, type Dispatch } from "./message.ts";
import { outcomeOf, unavailable } from "./outcomes.ts";
import { findRuns, maxRunsTold, notWhole, toldOf } from "./runs.ts";

export interface DispatchingGithub {
  readonly call: GithubCall;
  readonly visibility: Visibility;
  /** Whether the server can answer with the run; false once it turned out to be an older version. */
  knowsRunDetails: boolean;
}

const startedSchema = z.object({ workflow_run_id: z.int(), html_url: z.string().optional().catch(undefined) });

export async function dispatchRun(
  github: DispatchingGithub,
  dispatch: Dispatch,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const answer = await dispatchOnce(github, dispatch, signal);
  if (answer.kind === "failure") return outcomeOf(answer);
  // The answer of an older server, which says nothing about the run.
  if (answer.status === 204) return { kind: "delivered", code: "204" };
  const started = startedSchema.safeParse(answer.data).data;
  if (started === undefined) return outcomeOf({ kind: "failure", code: "bad_answer" });
  const { workflow_run_id: id, html_url: url } = started;
  return { kind: "delivered", code: String(answer.status), reference: String(id), response: startedRun(id, url) };
}

/**
 * A server that does not know the field for the run's details refuses it with 422, as it does a bad branch or bad inputs.
 * Nothing was started then, so the same request without the field shows which of them it was.
 */
async function dispatchOnce(github: DispatchingGithub, dispatch: Dispatch, signal: AbortSignal): Promise<GithubAnswer> {
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

export async function findDispatched(
  { call, visibility }: DispatchingGithub,
  dispatch: Dispatch,
  message: RailMessage,
  signal: AbortSignal,
): Promise<LookupOutcome> {
  const { owner, repo, workflow } = dispatch;
  const search = { owner, repo, workflow, mark: markOf(dispatch), since: message.createdAt, most: maxRunsTold };
  const found = await findRuns(call, search, signal);
  if (found.kind === "failure") return unavailable(found);
  // Anyone who may start the workflow can give a run this name. Only the answer to a dispatch says which is ours, so report all.
  const told = toldOf(found.runs);
  const first = found.runs.at(-1);
  if (first !== undefined) {
    return { kind: "found", reference: String(first.id), response: { run: told.length === 1 ? told[0]! : told } };
  }
  if (!found.whole) return unavailable(notWhole);
  const afterMs = message.uncertain ? visibility.missed(message.outboxId) : 0;
  return afterMs === 0 ? { kind: "absent" } : unavailable({ kind: "failure", code: "may_still_appear", afterMs });
}

function startedRun(id: number, url: string | undefined): Json {
  return { run: { id, ...(url === undefined ? {} : { url }) } };
}
