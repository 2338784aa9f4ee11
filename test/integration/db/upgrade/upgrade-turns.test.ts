/**
 * An installation from before jobs had their customer's turn is upgraded while several jobs of a customer are running: each continues, and
 * nothing is left waiting for what nobody checks.
 */
import { expect, test } from "vitest";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { startProvisioning, type Job } from "../../provisioning/harness.ts";

const p = await startProvisioning(18);

/** The schema that migration 0105 found. */
const takeBack = `
set role headroom_owner;
alter table provisioning.attempts drop column due_at cascade, drop column sent_at cascade, drop column over_at cascade,
  drop column over_because cascade;
alter table provisioning.jobs drop column has_turn cascade, drop column asked_for cascade, drop column asked_since cascade;
create unique index jobs_in_progress on provisioning.jobs (workspace_id, customer_key) where state in ('queued', 'provisioning');
create index jobs_looks on provisioning.jobs (next_look_at)
  where state in ('waiting', 'queued', 'provisioning', 'failed') or cleanup in ('under_way', 'failed');
alter table provisioning.dispatched_runs drop column run_attempt;
drop index billing.payments_recorded;
drop type capacity.terms cascade;
alter type capacity.context drop attribute personal, add attribute customer_ref jsonb;
alter table capacity.personal_data drop column justification cascade;
drop type notify.recipient, notify.content, billing.stripe_call cascade;
drop type headroom.refusal, capacity.action_verdict cascade;
alter table notify.parts add constraint parts_check3 check (endpoint_id = '' or channel = 'webhook');
drop table outbox.registered_settings;
alter table outbox.stream_rails drop column registered;
delete from headroom.migrations where number >= 105;
update headroom.recreatables set checksum = 'outdated';
reset role`;

let runs = 600_000;
/** Its run was stopped and cleaned up after; nobody reported whether that run has ended. */
async function stopped(customer: unknown, retried: boolean): Promise<Job> {
  const job = await p.confirmed(customer);
  await p.says(job, { signal: "claim" });
  if (retried) {
    await p.age(job, 11);
    await p.sweep();
  } else await p.apply(job.request_id, "CANCEL_APPROVED", "rita");
  await p.says(job, { signal: "succeeded", task: "cleanup", run_id: (runs += 1) });
  await rowsOf(
    p.superuser,
    "update provisioning.attempts set over_at = ended_at, over_because = 'seen' where job_id = $1",
    [job.id],
  );
  await p.sweep();
  return job;
}

test("running jobs of a customer continue, and nothing is wrong with any of them", async () => {
  const [three, again] = ["three", "again"].map((org_id) => ({ org_id, name: org_id }));
  const over = [await stopped(three, false), await stopped(three, false)];
  const running = await p.confirmed(three);
  await p.says(running, { signal: "claim" });
  const retried = await stopped(again, true);
  await p.superuser.query("select public.retry_provisioning_job($1, 'again', 'rita')", [retried.id]);
  await p.says(retried, { signal: "claim", attempt: 2, run_id: (runs += 1) });
  expect(await p.findings()).toEqual([]);

  await withConnection(p.db.superuserUrl, (client) => client.query(takeBack));
  await withConnection(p.db.url, (client) => migrate(client));
  expect(await p.findings()).toEqual([]);
  await p.says(running, { signal: "succeeded" });
  await p.says(retried, { signal: "succeeded", attempt: 2, run_id: runs });
  await p.sweep();
  expect(await p.findings()).toEqual([]);
  const states = await Promise.all([...over, running, retried].map(({ request_id: id }) => p.job(id)));
  expect(states.map(({ state }) => state)).toEqual(["cancelled", "cancelled", "running", "running"]);
});
