/** Reading the state of a run, or of the runs of a mark. It changes nothing, and may be repeated at will. */
import type { RailOutcome } from "../../contract/rail.ts";
import type { GithubCall } from "./call.ts";
import type { Watch } from "./message.ts";
import { outcomeOf } from "./outcomes.ts";
import { findRuns, maxRunsTold, notWhole, responseOf, runSchema, type RunsFound } from "./runs.ts";

export async function watchRuns(call: GithubCall, watch: Watch, signal: AbortSignal): Promise<RailOutcome> {
  const { owner, repo, workflow, run_mark: mark, since, run_id: id } = watch;
  const search = { owner, repo, workflow, mark, since: new Date(since), most: maxRunsTold };
  const found = id === undefined ? await findRuns(call, search, signal) : await readRun(call, watch, id, signal);
  if (found.kind === "failure") return outcomeOf(found);
  if (!found.whole) return outcomeOf(notWhole);
  return { kind: "delivered", code: "200", response: responseOf(found.runs) };
}

async function readRun(call: GithubCall, watch: Watch, id: number, signal: AbortSignal): Promise<RunsFound> {
  const { owner, repo, workflow } = watch;
  const answer = await call("GET /repos/{owner}/{repo}/actions/runs/{run_id}", { owner, repo, run_id: id }, signal);
  if (answer.kind === "data") {
    const run = runSchema.safeParse(answer.data).data;
    return run === undefined ? { kind: "failure", code: "bad_answer" } : { kind: "runs", runs: [run], whole: true };
  }
  if (answer.code !== "http_404") return answer;
  // Deleted, or hidden from the token? A run that the token cannot see must not be taken for deleted.
  const route = "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}";
  const seen = await call(route, { owner, repo, workflow_id: workflow }, signal);
  return seen.kind === "failure" ? seen : { kind: "runs", runs: [], whole: true };
}
