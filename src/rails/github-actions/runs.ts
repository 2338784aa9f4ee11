/**
 * The runs of a workflow that show a mark.
 *
 * Owns: the search and its bounds, and what is told of a run. Does not own: what follows from it.
 */
import { z } from "zod";
import type { Json } from "../../contract/rail.ts";
import type { GithubCall, GithubFailure } from "./call.ts";
import { names } from "./message.ts";

const word = z.string().max(50);
const url = z.string().max(2_000).optional().catch(undefined);

export const runSchema = z.object({
  id: z.int(),
  display_title: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  html_url: url,
  /** Older servers have none. */
  run_attempt: z.int().positive().catch(1),
  status: word.nullable().catch(null),
  conclusion: word.nullable().catch(null),
});

export type Run = z.infer<typeof runSchema>;

const pageSchema = z.object({ workflow_runs: z.array(runSchema) });

export interface RunSearch {
  readonly owner: string;
  readonly repo: string;
  readonly workflow: string | number;
  readonly mark: string;
  /** Runs that were started before are not meant. */
  readonly since: Date;
  /** When so many are found, the rest is not looked for. */
  readonly most: number;
}

export interface FoundRuns {
  readonly kind: "runs";
  readonly runs: readonly Run[];
  /** False when there was more to read than a search may: what is not among them may still be there. */
  readonly whole: boolean;
}

export type RunsFound = FoundRuns | GithubFailure;

/** What was not read to the end proves nothing. */
export const notWhole: GithubFailure = { kind: "failure", code: "too_many_to_search" };

/** GitHub's clock and the database's differ by seconds. */
const clockMarginMs = 60_000;
const pageSize = 100;
const maxPages = 10;

/** Newest first. */
export async function findRuns(call: GithubCall, search: RunSearch, signal: AbortSignal): Promise<RunsFound> {
  const { owner, repo, workflow, mark, since, most } = search;
  const from = new Date(since.getTime() - clockMarginMs).toISOString().replace(/\.\d{3}Z$/, "Z");
  const where = {
    owner,
    repo,
    workflow_id: workflow,
    event: "workflow_dispatch",
    created: `>=${from}`,
    per_page: pageSize,
  };
  const found = new Map<number, Run>();
  for (let page = 1; page <= maxPages; page += 1) {
    const route = "GET /repos/{owner}/{repo}/actions/workflows/{workflow_id}/runs";
    const answer = await call(route, { ...where, page }, signal);
    if (answer.kind === "failure") return answer;
    const read = pageSchema.safeParse(answer.data).data;
    if (read === undefined) return { kind: "failure", code: "bad_answer" };
    // A run that was started meanwhile moves others to the next page, where they are seen again.
    for (const run of read.workflow_runs) {
      if (names(run.display_title ?? run.name ?? "", mark)) found.set(run.id, run);
    }
    if (found.size >= most || read.workflow_runs.length < pageSize) return foundRuns(found, most, true);
  }
  return foundRuns(found, most, false);
}

function foundRuns(found: ReadonlyMap<number, Run>, most: number, whole: boolean): FoundRuns {
  const runs = [...found.values()].toSorted((a, b) => b.id - a.id);
  return { kind: "runs", runs: runs.slice(0, most), whole };
}

export function hasEnded({ status }: Run): boolean {
  return status === "completed";
}

/** More runs of one mark than this are told of by nobody. */
export const maxRunsTold = 20;

/** What captures are read from. */
export function responseOf(runs: readonly Run[]): Json {
  return { runs: toldOf(runs) };
}

/** What is told of them: with their status, unlike the run that a dispatch answers. */
export function toldOf(runs: readonly Run[]): Json[] {
  return runs.slice(0, maxRunsTold).map(runOf);
}

function runOf({ id, run_attempt: attempt, status, conclusion, html_url: address }: Run): Json {
  return { id, attempt, status, conclusion, url: address ?? null };
}
