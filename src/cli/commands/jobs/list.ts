/** `headroom jobs list`: provisioning jobs, newest first. */
import { type Command, Option } from "commander";
import { jobStates, listJobs, openJobStates, type JobState, type ListedJob } from "../../../provisioning/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { needsPerson, nextCommand, stepOf } from "../../words/job-words.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { formatAge, printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace } from "../../workspace.ts";

interface ListOptions extends CommonOptions {
  readonly state?: readonly JobState[];
  readonly open?: boolean;
  readonly workspace?: string;
  readonly limit: number;
}

export function registerList(jobs: Command): void {
  addCommon(
    jobs
      .command("list")
      .description("list provisioning jobs, newest first")
      .addOption(new Option("--state <state...>", "only in these states").choices(jobStates))
      .option("--open", "only jobs that have not ended")
      .addOption(new Option("--workspace <id>", "only of this workspace (default: all)").env("HEADROOM_WORKSPACE"))
      .option("--limit <rows>", "most rows, up to 10000", parseWhole(1, 10_000), 50),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  if (options.open === true && options.state !== undefined) {
    throw new HeadroomError("usage", "--open and --state cannot be used together.", {
      hint: "--open means all open states.",
    });
  }
  const states = options.open === true ? openJobStates : options.state;
  const { workspace: workspaceId, limit } = options;
  const { jobs } = await withDatabase(options, "jobs list", async (client) => {
    const listed = orFail(await listJobs(client, { workspaceId, states, limit }));
    if (listed.jobs.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    return listed;
  });
  if (options.json === true) printJson({ jobs });
  else show(jobs, limit);
}

function show(jobs: readonly ListedJob[], limit: number): void {
  if (jobs.length === 0) return printLine("No jobs match.");
  const now = Date.now();
  printTable(jobs, [
    { title: "REQUEST", value: (row) => row.requestId },
    { title: "STATE", value: (row) => row.state },
    { title: "FOR", value: (row) => formatAge(Math.max(0, (now - row.updatedAt.getTime()) / 1_000)), align: "right" },
    { title: "ATTEMPT", value: (row) => `${row.attempts} of ${row.mostAttempts}` },
    { title: "STEP", value: (row) => stepOf(row) },
    { title: "CLEANUP", value: (row) => (row.cleanup === "none" ? null : row.cleanup) },
    { title: "HELD BY", value: (row) => row.heldBy },
    { title: "RUN", value: (row) => row.runId },
    { title: "WORKSPACE", value: (row) => row.workspaceId },
    { title: "ERROR", value: (row) => row.error },
  ]);
  if (jobs.length === limit) printLine(`\nThere may be more: --limit ${Math.min(limit * 2, 10_000)}`);
  showNext(jobs);
}

/** The most urgent first: what waits on a person, then what waits to be connected, then what is under way. */
function showNext(jobs: readonly ListedJob[]): void {
  const urgent =
    jobs.find((job) => job.state === "failed") ??
    jobs.find((job) => needsPerson(job)) ??
    jobs.find((job) => nextCommand(job) !== null);
  const next = urgent === undefined ? null : nextCommand(urgent);
  if (next !== null) printLine(`\nNext: ${next}`);
}
