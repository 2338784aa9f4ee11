/** `headroom jobs retry | fail | complete | cleaned`: people's actions on a job. Each needs a reason, which the log keeps. */
import type { Command } from "commander";
import type { Client } from "pg";
import {
  cleanJob,
  completeJob,
  failJob,
  retryJob,
  type Job,
  type JobAction,
  type JobMoved,
} from "../../../provisioning/index.ts";
import type { Refused } from "../../../db/refusal.ts";
import { asOption, parseJobId, reasonOption, requireMember, requireReason, type ActingOptions } from "../../acting.ts";
import { withDatabase } from "../../database.ts";
import { nextCommand, stateWords, whyHeld } from "../../words/job-words.ts";
import { addCommon, parseWhole } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";

interface ActionOptions extends ActingOptions {
  readonly reason?: string;
  readonly ifVersion?: number;
}

type Act = (client: Client, id: string, action: JobAction) => Promise<JobMoved | Refused>;

export function registerActions(jobs: Command): void {
  action(jobs, "retry", "ask for another attempt of a failed job, as its requester, an operator or an admin", retryJob);
  action(jobs, "fail", "record that a job failed permanently, as an operator or an admin; ends its request", failJob);
  action(
    jobs,
    "complete",
    "record that the capacity is there, e.g. bought elsewhere, as an operator or an admin; ends its request",
    completeJob,
  );
  action(
    jobs,
    "cleaned",
    "record that you cleaned up after a job whose cleanup failed, as an operator or an admin",
    cleanJob,
  );
}

function action(jobs: Command, name: keyof typeof done, description: string, act: Act): void {
  addCommon(
    jobs
      .command(name)
      .description(description)
      .argument("<job>", "request id, or job id", parseJobId)
      .addOption(asOption())
      .addOption(reasonOption("why; it is recorded in the log; asked for at a terminal when left out"))
      .option("--if-version <number>", "only if the job still has this version", parseWhole(1, 2_147_483_647)),
  ).action(async (id: string, options: ActionOptions) => {
    const as = requireMember(options);
    const reason = await requireReason(options);
    const { job } = orFail(
      await withDatabase(options, `jobs ${name}`, (client) =>
        act(client, id, { as, reason, expectedVersion: options.ifVersion }),
      ),
    );
    if (options.json === true) printJson(job);
    else show(job, done[name]);
  });
}

const done = {
  retry: "another attempt was asked for",
  fail: "it is recorded that provisioning failed",
  complete: "it is recorded that the capacity is there",
  cleaned: "it is recorded that nothing is left to clean up",
} as const;

function show(job: Job, what: string): void {
  printLine(`${job.requestId}: ${what}. The job is ${stateWords[job.state]}.`);
  const held = whyHeld(job);
  if (held !== null) printLine(held);
  if (job.cleanup === "under_way") printLine("What the last attempt made is being cleaned up.");
  const next = nextCommand(job);
  if (next !== null) printLine(`Next: ${next}`);
}
