/**
 * The runs of a workflow that show a mark.
 *
 * Owns: the search and its bounds, and what is reported about a run. Does not own: what follows from it.
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
  /** Missing on older servers. */
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
  /** Ignores runs that were started earlier. */
  readonly since: Date;
  /** The search ends when this many are found. */
  readonly most: number;
}

export interface FoundRuns {
  readonly kind: "runs";
  readonly runs: readonly Run[];
  /** False if there was more than a search may read: a run that was not found may still exist. */
  readonly whole: boolean;
}

export type RunsFound = FoundRuns | GithubFailure;

/** A list that was not read to the end proves nothing. */
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
    // A run that is started meanwhile moves others to the next page, where they are read again.
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

/** How many runs of one mark are reported. */
export const maxRunsTold = 20;

/** Captures are read from this. */
export function responseOf(runs: readonly Run[]): Json {
  return { runs: toldOf(runs) };
}

/** What is reported about them: with their status, unlike the run in the answer to a dispatch. */
export function toldOf(runs: readonly Run[]): Json[] {
  return runs.slice(0, maxRunsTold).map(runOf);
}

function runOf({ id, run_attempt: attempt, status, conclusion, html_url: address }: Run): Json {
  return { id, attempt, status, conclusion, url: address ?? null };
}
