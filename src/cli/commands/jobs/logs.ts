/** `headroom jobs logs`: the steps of all runs of a job, in order; with --follow until the job has ended. */
import type { Command } from "commander";
import type { Client } from "pg";
import { getJob, type Job } from "../../../provisioning/index.ts";
import { pause } from "../../../db/wait/pause.ts";
import { parseJobId } from "../../acting.ts";
import { databaseUrlOption, withDatabase } from "../../database.ts";
import { isOver, needsPerson, nextCommand, stateWords, whyHeld } from "../../words/job-words.ts";
import type { CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { watchSignals } from "../../signals.ts";
import { formatLine, logLines } from "./log-lines.ts";

const pollEveryMs = 2_000;

interface LogsOptions extends CommonOptions {
  readonly follow?: boolean;
}

export function registerLogs(jobs: Command): void {
  jobs
    .command("logs")
    .description("show what the runs of a job did, in order: steps, progress, errors")
    .argument("<job>", "request id, or job id", parseJobId)
    .option("-f, --follow", "continue until the job has ended, or Ctrl-C")
    .addOption(databaseUrlOption())
    .option("--json", "print one JSON object for each line")
    .action(runLogs);
}

async function runLogs(id: string, options: LogsOptions): Promise<void> {
  const json = options.json === true;
  const job = await withDatabase(options, "jobs logs", (client) =>
    options.follow === true ? follow(client, id, json) : printNew(client, id, new Set(), json),
  );
  if (json) return;
  const next = nextCommand(job);
  printLine(`\n${job.requestId} is ${stateWords[job.state]}. ${whyHeld(job) ?? ""}`.trimEnd());
  if (next !== null && options.follow !== true) printLine(`Next: ${next}`);
}

/** Prints the lines that were not printed before. */
async function printNew(client: Client, id: string, printed: Set<string>, json: boolean): Promise<Job> {
  const { job } = orFail(await getJob(client, id));
  for (const line of logLines(job)) {
    if (printed.has(line.id)) continue;
    printed.add(line.id);
    if (json) printJson(line);
    else printLine(formatLine(line));
  }
  return job;
}

async function follow(client: Client, id: string, json: boolean): Promise<Job> {
  const signals = watchSignals(() => undefined);
  const printed = new Set<string>();
  let told: string | null = null;
  try {
    for (;;) {
      const job = await printNew(client, id, printed, json);
      if (isOver(job) || signals.stop.aborted) return job;
      const waits = waitsForPeople(job);
      // On stderr, because it is not a line of the log.
      if (waits !== null && waits !== told) process.stderr.write(`${waits}\n`);
      told = waits;
      await pause(pollEveryMs, signals.stop);
      if (signals.stop.aborted) return job;
    }
  } finally {
    signals.dispose();
  }
}

/** Nothing if the job continues on its own; if it waits on people, says on whom. */
function waitsForPeople(job: Job): string | null {
  if (!needsPerson(job)) return null;
  return `It is ${stateWords[job.state]}. ${whyHeld(job) ?? ""}\n  ${nextCommand(job)}`;
}
