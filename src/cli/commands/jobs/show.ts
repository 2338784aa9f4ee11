/** `headroom jobs show`: one job, its runs, its history, and what to do next. */
import type { Command } from "commander";
import { getJob, type Job, type JobRun } from "../../../provisioning/index.ts";
import { parseJobId } from "../../acting.ts";
import { withDatabase } from "../../database.ts";
import { attemptOf, nextCommand, stateWords, stepOf, whyHeld } from "../../words/job-words.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printFacts, printJson, printLine, printTable, type Fact } from "../../output.ts";
import { orFail } from "../../refusal.ts";

export function registerShow(jobs: Command): void {
  addCommon(
    jobs
      .command("show")
      .description("show a job: its state, its runs with their errors, its history, and what to do next")
      .argument("<job>", "request id, or job id", parseJobId),
  ).action(runShow);
}

async function runShow(id: string, options: CommonOptions): Promise<void> {
  const { job } = orFail(await withDatabase(options, "jobs show", (client) => getJob(client, id)));
  if (options.json === true) printJson(job);
  else show(job);
}

function show(job: Job): void {
  printFacts(factsOf(job));
  showRuns(job.runs);
  showHistory(job);
  if (job.cleanup === "failed") {
    const what = "The cleanup failed: something may be left running. No attempt begins on top of it.";
    printLine(`\n${what} Clean up by hand, then record it.`);
  }
  const next = nextCommand(job);
  if (next !== null) printLine(`\nNext: ${next}`);
}

const cleanupWords: Readonly<Record<Job["cleanup"], string | null>> = {
  none: null,
  under_way: "under way",
  done: "done",
  failed: "failed: something may be left running",
};

function factsOf(job: Job): readonly Fact[] {
  return [
    ["job", job.id],
    ["request", job.requestId],
    ["state", `${job.state} since ${job.updatedAt.toISOString()}`],
    ["means", stateWords[job.state] === job.state ? null : stateWords[job.state]],
    ["held by", whyHeld(job)],
    ["waits for", job.waitsFor.join(", ") || null],
    ["gives up", job.givesUpAt?.toISOString() ?? null],
    ["attempts", attemptOf(job)],
    ["cleanup", cleanupWords[job.cleanup]],
    ["region", job.region],
    ["version", job.version],
    ["created", job.createdAt.toISOString()],
    ["failed", job.failedAt?.toISOString() ?? null],
    ["over", job.completedAt?.toISOString() ?? null],
    ["workspace", job.workspaceId],
  ];
}

/** When its run is known to have ended, and how; until then no other job of the customer begins. */
function overOf({ endedAt, overAt, overBecause }: JobRun): string | null {
  if (overAt !== null) return `${overAt.toISOString()} ${(overBecause ?? "").replace("_", " ")}`;
  return endedAt === null ? null : "not known";
}

/** The error that the run reported, after the step in which it happened. */
function errorOf({ failedStep, error }: Pick<JobRun, "failedStep" | "error">): string | null {
  return [failedStep, error].filter((part) => part !== null).join(": ") || null;
}

function showRuns(runs: readonly JobRun[]): void {
  if (runs.length === 0) return;
  printLine();
  printTable(runs, [
    { title: "RUN", value: (run) => `${run.task} ${run.attempt}` },
    { title: "STATUS", value: (run) => run.status },
    { title: "STEP", value: stepOf },
    { title: "BECAUSE", value: (run) => run.endedBecause },
    { title: "ERROR", value: errorOf },
    { title: "ASKED FOR", value: (run) => run.dispatchedAt },
    { title: "LAST SIGN", value: (run) => run.lastHeartbeatAt },
    { title: "ENDED", value: (run) => run.endedAt },
    { title: "RUN OVER", value: overOf },
    { title: "AT GITHUB", value: (run) => run.runUrl ?? run.runId },
  ]);
}

function showHistory({ history }: Job): void {
  printLine();
  printTable(history, [
    { title: "#", value: (row) => row.seq, align: "right" },
    { title: "AT", value: (row) => row.at },
    { title: "EVENT", value: (row) => row.event },
    { title: "BY", value: (row) => row.actorId },
    { title: "VIA", value: (row) => row.via },
    { title: "STATE", value: (row) => row.stateAfter },
    { title: "REASON", value: (row) => row.reason },
  ]);
}
