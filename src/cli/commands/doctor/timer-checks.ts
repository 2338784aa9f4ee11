/** Do the timers run: was there a recent run, and if pg_cron has a job for them, does it run that job? */
import type { Client } from "pg";
import { call } from "../../../db/call.ts";
import { formatAge } from "../../output.ts";
import { isInUse, type Facts } from "./facts.ts";
import { askAsControl, askAsMigrator, failure, ifAllowed, ok, skipped, warning, type Finding } from "./finding.ts";

/** Every process that runs the timers does so about once a minute. */
const latelySeconds = 180;

export async function checkTimers(client: Client, facts: Facts): Promise<Finding[]> {
  const runs = await ifAllowed(call(client, "capacity.timers_last_ran", {}));
  if (runs === undefined) return [skipped("timers", "This login may not see when the timers ran.", askAsControl)];
  const last = runs.toSorted((left, right) => ageOf(left) - ageOf(right))[0];
  const ran = last !== undefined && ageOf(last) <= latelySeconds;
  return [
    timersFinding(last, ran, runs.find((run) => run.failed_at !== null)?.failed_code ?? null, facts),
    ...(await checkCron(client, ran, facts)),
  ];
}

interface LastRun {
  readonly runner: string;
  readonly seconds_ago: number | null;
  readonly failures: number;
}

function ageOf(run: { readonly seconds_ago: number | null }): number {
  return run.seconds_ago ?? Infinity;
}

const startSomething =
  "Start a relay (headroom relay) or headroom serve, which run them; or if pg_cron is installed: select capacity.schedule_timers()";

function timersFinding(last: LastRun | undefined, ran: boolean, failedCode: string | null, facts: Facts): Finding {
  if (last !== undefined && ran) {
    const message = `They last ran ${formatAge(last.seconds_ago)} ago (${runners.get(last.runner) ?? last.runner}).`;
    if (last.failures === 0) return ok("timers", message);
    return warning(
      "timers",
      `${message} A timer failed for ${last.failures === 1 ? "one request" : `${last.failures} requests`}, and will be tried again.`,
      "See why: select * from capacity.timer_failures",
    );
  }
  if (facts.workspaces !== undefined && !isInUse(facts))
    return ok("timers", "There are no members, so nothing is due.");
  const when =
    last === undefined || last.seconds_ago === null ? "have never run" : `last ran ${formatAge(last.seconds_ago)} ago`;
  const why = failedCode === null ? "" : ` The last run failed (${failedCode}).`;
  // A login that may not see whether there are members cannot tell whether anything is due.
  const report = facts.workspaces === undefined ? warning : failure;
  return report(
    "timers",
    `The timers ${when}: nothing expires, and nobody is warned or reminded.${why}`,
    startSomething,
  );
}

const runners: ReadonlyMap<string, string> = new Map([
  ["worker", "a relay"],
  ["server", "headroom serve"],
  ["turn", "a relay on demand"],
  ["pg_cron", "pg_cron"],
  ["call", "a call"],
]);

const timersJob = "capacity-request-timers";
const scheduleAgain = "As the role that migrates: select capacity.schedule_timers()";

interface JobRun {
  readonly scheduled: boolean;
  /** The time since its last successful run; null if there was none. */
  readonly seconds: number | null;
  readonly status: string | null;
}

/** Checks that pg_cron ran the job, not only that it has one: its launcher may miss a job. Only its owner can see a job. */
async function checkCron(client: Client, ran: boolean, facts: Facts): Promise<Finding[]> {
  const tables = await client.query<{ readable: boolean | null }>(
    `select bool_and(has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'select')) as readable
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'cron' and c.relname in ('job', 'job_run_details') having count(*) > 0`,
  );
  const [table] = tables.rows;
  if (table === undefined) return [];
  if (table.readable !== true) {
    return [
      skipped(
        "pg_cron",
        "Only the role that runs headroom migrate can check whether it runs the timers.",
        askAsMigrator,
      ),
    ];
  }
  const result = await client.query<JobRun>(
    `select exists (select from cron.job where jobname = $1) as scheduled,
            (select extract(epoch from now() - max(d.end_time))::float8 from cron.job_run_details d join cron.job j on j.jobid = d.jobid
              where j.jobname = $1 and d.status = 'succeeded') as seconds,
            (select d.status from cron.job_run_details d join cron.job j on j.jobid = d.jobid
              where j.jobname = $1 order by d.runid desc limit 1) as status`,
    [timersJob],
  );
  return result.rows.map((job) => cronFinding(job, ran || (facts.workspaces !== undefined && !isInUse(facts))));
}

/** If others run the timers, or nothing is due, a pg_cron that does not is only a warning. */
function cronFinding({ scheduled, seconds, status }: JobRun, covered: boolean): Finding {
  const report = covered ? warning : failure;
  if (!scheduled) return report("pg_cron", "It is installed, but no job of this login runs the timers.", scheduleAgain);
  if (seconds === null) {
    const failed = status === null || status === "succeeded" ? "" : ` Its last run: ${status}.`;
    return report(
      "pg_cron",
      `It has the job ${timersJob}, but has never completed it.${failed}`,
      `${scheduleAgain}, in a separate transaction; if it still does not run, see cron.job_run_details.`,
    );
  }
  if (seconds <= latelySeconds) return ok("pg_cron", `It ran the timers ${formatAge(seconds)} ago.`);
  return report(
    "pg_cron",
    `It last ran the timers ${formatAge(seconds)} ago, but should run them every minute.`,
    `${scheduleAgain}; if it still does not run, see cron.job_run_details.`,
  );
}
