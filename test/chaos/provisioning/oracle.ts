/**
 * The verdict about jobs, from two sides: the database, and GitHub. Neither knows which faults happened.
 */
import { verify } from "../../../src/capacity/verify.ts";
import { verifyJobs } from "../../../src/provisioning/verify.ts";
import type { Findings } from "../kit/findings.ts";
import { noteVerify } from "../kit/verify.ts";
import { byHandRef, type ProvisioningStage } from "./stage.ts";

/** The invariants at every moment. */
export async function observe(stage: ProvisioningStage, findings: Findings): Promise<void> {
  const crowded = await stage.rows<{ jobs: string }>(
    `select string_agg(request_id || ' ' || state, ', ') as jobs from provisioning.jobs
      where state in ('queued', 'provisioning') and customer_key is not null group by workspace_id, customer_key having count(*) > 1`,
  );
  for (const { jobs } of crowded) findings.add("one job of a customer is in progress at a time", jobs);
  const beside = await stage.rows<{ runs: string }>(
    `select string_agg(concat_ws(' ', j.request_id, a.task, a.number, a.status), ', ') as runs
       from provisioning.jobs j join provisioning.attempts a on a.job_id = j.id
      where a.over_at is null and j.customer_key is not null group by j.workspace_id, j.customer_key having count(distinct j.id) > 1`,
  );
  for (const { runs } of beside) findings.add("runs of one customer's requests follow each other", runs);
}

/** The invariants once everything has come to rest. */
export async function judge(stage: ProvisioningStage, findings: Findings): Promise<void> {
  for (const { invariant, query } of invariants) {
    for (const { what } of await stage.rows<{ what: string }>(query)) findings.add(invariant, what);
  }
  judgeRuns(stage, findings);
  await observe(stage, findings);
  await noteVerify(stage, [verify, verifyJobs], findings);
}

/** A dispatch starts one run, and the claim lets only one run of an attempt through. */
function judgeRuns({ sandbox }: ProvisioningStage, findings: Findings): void {
  const runs = Map.groupBy(sandbox.github.runs(), ({ title }) => title);
  for (const [title, all] of runs) {
    const asked = all.filter(({ ref }) => ref !== byHandRef);
    if (asked.length > 1) findings.add("an attempt is dispatched once", `${title}: runs ${idsOf(asked)}`);
    const owners = all.filter(({ script }) => script?.steps[0]?.state === "done");
    if (owners.length > 1) findings.add("one run has an attempt", `${title}: runs ${idsOf(owners)}`);
  }
}

const idsOf = (runs: readonly { id: number }[]): string => runs.map(({ id }) => id).join(", ");

const invariants: readonly { readonly invariant: string; readonly query: string }[] = [
  {
    invariant: "no job is lost: a request that was confirmed has one",
    query: `select r.id as what from capacity.requests r
             where r.state = 'PROVISIONING' and not exists (select from provisioning.jobs j where j.request_id = r.id)`,
  },
  {
    invariant: "no job is stuck: each has ended, or waits on a person",
    query: `select format('%s is %s, its cleanup %s', j.request_id, j.state, j.cleanup) as what from provisioning.jobs j
             where j.state not in ('running', 'given_up', 'cancelled', 'failed') and not (j.state = 'waiting' and j.cleanup = 'failed')
                or j.cleanup = 'under_way'
            union all
            select format('%s of %s still waits in the outbox', m.idempotency_key, m.instruction_id)
              from outbox.pending p join outbox.payloads m on m.outbox_id = p.outbox_id
             where m.stream_id = outbox.stream_id('provisioning')`,
  },
  {
    invariant: "only one run is listened to about an attempt",
    query: `select format('%s %s of %s: runs %s', c.task, c.attempt, c.job_id, string_agg(distinct c.run_id || '.' || c.run_attempt, ', ')) as what
              from provisioning.callbacks c where c.outcome = 'accepted'
             group by c.job_id, c.task, c.attempt having count(distinct (c.run_id, c.run_attempt)) > 1`,
  },
  {
    invariant: "what an attempt may have left is cleaned up, or people are told that it is not",
    query: `select format('attempt %s of %s: %s %s', a.number, j.request_id, a.status, a.ended_because) as what
              from provisioning.attempts a join provisioning.jobs j on j.id = a.job_id
             where a.task = 'provision' and a.status in ('failed', 'stopped') and a.ended_because <> 'not_dispatched'
               and not exists (select from provisioning.attempts c where c.job_id = a.job_id and c.cleans = a.number and c.status = 'succeeded')
               and (select count(*) from provisioning.attempts c where c.job_id = a.job_id and c.cleans = a.number)
                   < (select s.most_cleanups from provisioning.settings s where s.workspace_id = j.workspace_id)`,
  },
  {
    invariant: "an attempt begins after the cleanup of the one before",
    query: `select format('attempt %s of %s', e.attempt, j.request_id) as what
              from provisioning.events e join provisioning.jobs j on j.id = e.job_id
             where e.event = 'DISPATCHED'
               and exists (select from provisioning.attempts c where c.job_id = e.job_id and c.cleans = e.attempt - 1
                            and (c.ended_at is null or c.ended_at > e.created_at))`,
  },
  {
    invariant: "a job never exceeds its maximum of attempts",
    query: `select format('%s: %s of %s', j.request_id, j.attempts, j.most_attempts) as what from provisioning.jobs j
             where j.attempts > j.most_attempts`,
  },
];
