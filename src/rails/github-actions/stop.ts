/**
 * Stopping the runs of a mark. The row is delivered when all of them have ended: GitHub takes minutes, and each try cancels again.
 *
 * Owns: which runs are cancelled, how, and when the row is delivered. Does not own: what the runs left behind.
 */
import type { LookupOutcome, RailMessage, RailOutcome } from "../../contract/rail.ts";
import type { GithubCall, GithubFailure } from "./call.ts";
import type { Stop } from "./message.ts";
import { outcomeOf, unavailable } from "./outcomes.ts";
import { findRuns, hasEnded, notWhole, responseOf, type FoundRuns, type Run, type RunsFound } from "./runs.ts";

/** A try has limited time, and another one follows. */
const maxCancelsPerTry = 20;
/** From this try on, force-cancel a run that ignores a cancel because one of its steps runs `always()`. */
const firstForcedTry = 4;
const stillRunningAfterMs = 10_000;

export interface StoppingGithub {
  readonly call: GithubCall;
  /** How long a run that was just dispatched may be missing from the list. */
  readonly visibleAfterMs: number;
}

export async function stopRuns(
  { call, visibleAfterMs }: StoppingGithub,
  stop: Stop,
  message: RailMessage,
  signal: AbortSignal,
): Promise<RailOutcome> {
  const found = await findMarked(call, stop, signal);
  if (found.kind === "failure") return outcomeOf(found);
  // A second search has waited long enough, whichever relay does it.
  if (found.runs.length === 0 && message.tryNo === 1 && visibleAfterMs > 0) {
    return outcomeOf({ kind: "failure", code: "may_still_appear", afterMs: visibleAfterMs });
  }
  const running = found.runs.filter((run) => !hasEnded(run));
  if (running.length === 0) return endOf(found);
  const failure = await cancelAll(call, stop, running, message.tryNo >= firstForcedTry, signal);
  if (failure?.throttled === true) return outcomeOf(failure);
  // A run that was still queued ends immediately; after a lost answer, this is the proof.
  const after = await findMarked(call, stop, signal);
  const isOver = after.kind === "runs" && after.runs.every(hasEnded);
  if (failure !== undefined && !isOver) return outcomeOf(failure);
  return after.kind === "failure" ? outcomeOf(after) : endOf(after);
}

/** Whether an earlier try stopped them. A second cancel does no harm, so while a run is still running, cancel again. */
export async function findStopped(call: GithubCall, stop: Stop, signal: AbortSignal): Promise<LookupOutcome> {
  const found = await findMarked(call, stop, signal);
  if (found.kind === "failure") return unavailable(found);
  return found.whole && found.runs.length > 0 && found.runs.every(hasEnded)
    ? { kind: "found", response: responseOf(found.runs) }
    : { kind: "absent" };
}

function findMarked(call: GithubCall, stop: Stop, signal: AbortSignal): Promise<RunsFound> {
  const { owner, repo, workflow, run_mark: mark, since } = stop;
  return findRuns(call, { owner, repo, workflow, mark, since: new Date(since), most: Infinity }, signal);
}

/** If GitHub cannot cancel one run, the others are still cancelled; a rate limit ends the loop. Returns the first failure. */
async function cancelAll(
  call: GithubCall,
  { owner, repo }: Stop,
  running: readonly Run[],
  byForce: boolean,
  signal: AbortSignal,
): Promise<GithubFailure | undefined> {
  let first: GithubFailure | undefined;
  for (const { id } of running.slice(0, maxCancelsPerTry)) {
    const failure = await cancelOnce(call, { owner, repo, run_id: id }, byForce, signal);
    if (failure?.throttled === true) return failure;
    first ??= failure;
  }
  return first;
}

async function cancelOnce(
  call: GithubCall,
  run: { readonly owner: string; readonly repo: string; readonly run_id: number },
  byForce: boolean,
  signal: AbortSignal,
): Promise<GithubFailure | undefined> {
  const ask = (how: string) => call(`POST /repos/{owner}/{repo}/actions/runs/{run_id}/${how}`, { ...run }, signal);
  const forced = byForce ? await ask("force-cancel") : undefined;
  // Older servers cannot force-cancel.
  const isUnknown = forced?.kind === "failure" && forced.code === "http_404";
  const answer = forced === undefined || isUnknown ? await ask("cancel") : forced;
  // 409: it has ended meanwhile, or GitHub has yet to queue it; the search afterwards shows which.
  return answer.kind === "failure" && answer.code !== "http_409" ? answer : undefined;
}

function endOf({ runs, whole }: FoundRuns): RailOutcome {
  const running = runs.find((run) => !hasEnded(run));
  if (running !== undefined) {
    const detail = `run ${running.id}: ${running.status ?? "no status"}`;
    return outcomeOf({ kind: "failure", code: "still_running", detail, afterMs: stillRunningAfterMs });
  }
  if (!whole) return outcomeOf(notWhole);
  return { kind: "delivered", code: "ended", response: responseOf(runs) };
}
