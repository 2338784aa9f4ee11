/**
 * An installation from before lanes stored when they last delivered gets it from its archive in the upgrade, and ends up equal to a new
 * one. Refunds that wait in payments, from before they had their own stream, go out from there, and nothing else uses their rail. What
 * later migrations added is removed here, by name.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { dumpSchema } from "../../../../scripts/gen/schema.ts";
import { withConnection } from "../../../../src/db/connect.ts";
import { migrate } from "../../../../src/db/migrate.ts";
import { everyVersion } from "../../../helpers/database.ts";
import { customer, startSurfaces } from "../../capacity/surfaces.ts";
import { tracesOf } from "../../capacity/traces.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { Engine, idsOf } from "../../outbox/harness.ts";

/** The schema that migrations from 0049 on found; bodies of functions that they drop do not matter. */
const takeBack = `
set role headroom_owner;
create function capacity.last_notified_at(text, integer) returns timestamptz language sql as 'select null::timestamptz';
create function capacity.last_delivery(text, integer) returns timestamptz language sql as 'select null::timestamptz';
create function outbox.last_delivered_at(smallint, text[], text) returns timestamptz language sql as 'select null::timestamptz';
drop function outbox.advance_lanes;
create function outbox.advance_lanes(bigint[], bigint[], boolean, tid[]) returns void language sql as 'select';
do $$ begin
  execute 'create or replace view public.capacity_requests with (security_invoker = true) as '
    || replace(pg_get_viewdef('public.capacity_requests'::regclass), 'capacity.last_notified_at(r.id)',
               'capacity.last_notified_at(r.id, r.version)');
end $$;
drop function capacity.last_notified_at(text);
drop table notify.settled cascade;
alter table outbox.lanes drop column delivered_at cascade;
alter table outbox.heads drop column delivered_at cascade;
alter table outbox.streams drop column followed cascade;
drop table capacity.routes, capacity.tells cascade;
drop type capacity.context, capacity.verdict, capacity.tell cascade;
alter table directory.workspaces drop column acts_per_hour;
drop table capacity.acts, headroom.turns, outbox.stream_rails, outbox.reserved_kinds, outbox.answers, provisioning.dispatched_runs,
  outbox.registered_settings, capacity.removed_slack_users, headroom.handed_out cascade;
alter table outbox.rails drop column guarded cascade, drop column credentials cascade;
alter table outbox.relays drop column on_demand cascade, drop column ended_at cascade;
alter table provisioning.attempts drop column due_at cascade, drop column sent_at cascade, drop column over_at cascade,
  drop column over_because cascade;
alter table provisioning.jobs drop column has_turn cascade, drop column asked_for cascade, drop column asked_since cascade;
create unique index jobs_in_progress on provisioning.jobs (workspace_id, customer_key) where state in ('queued', 'provisioning');
create index jobs_looks on provisioning.jobs (next_look_at)
  where state in ('waiting', 'queued', 'provisioning', 'failed') or cleanup in ('under_way', 'failed');
delete from outbox.streams where name = 'refunds';
drop index webhooks.envelopes_by_id, webhooks.envelopes_ids, webhooks.envelopes_events, webhooks.envelopes_not_addressed;
alter table webhooks.envelopes drop constraint envelopes_pkey, add primary key (id), add unique (stream_id, instruction_id);
create index envelopes_not_addressed on webhooks.envelopes (stream_id, ord) where outbox_ids is null;
alter table outbox.dedupe drop column terms cascade;
alter table billing.drafts drop column proven_at, drop column generation, drop column spender;
alter table billing.draft_mails drop column spender, drop column proven;
create index drafts_recent on billing.drafts (workspace_id, created_at);
drop function billing.is_play_money(jsonb);
create function billing.is_play_money(p_session jsonb) returns boolean language sql as 'select false';
drop index billing.refunds_row, billing.payments_recorded, billing.payments_receipt;
alter table billing.payments drop column charge_id;
alter table billing.refunds drop column customer_asked_at;
alter table billing.subscriptions drop column ended_at;
alter table directory.members drop column by_slack cascade, drop column without_slack_by cascade, drop column without_slack_at cascade;
alter type directory.standing drop attribute linked cascade;
drop table outbox.ways;
drop type capacity.terms cascade;
alter table capacity.personal_data drop column justification cascade;
drop type notify.recipient, notify.content, billing.stripe_call cascade;
drop type headroom.refusal, capacity.action_verdict cascade;
alter table notify.parts add constraint parts_check3 check (endpoint_id = '' or channel = 'webhook');
alter table outbox.streams drop column built_in cascade;
alter table outbox.heads drop column way_id;
alter table outbox.pending drop column way_id;
alter table outbox.pending_unordered drop column way_id;
alter table outbox.payloads drop column way_id;
create index heads_due on outbox.heads (stream_id, destination_id, priority, due) where claim_id is null and not blocked;
create index pending_unordered_due on outbox.pending_unordered (stream_id, destination_id, priority, due);
delete from headroom.migrations where number >= 49;
update headroom.recreatables set checksum = 'outdated';
reset role`;

const known = `
select array(select concat_ws(' ', stream, key, delivered_at) from outbox.lane_positions order by stream, key) as lanes,
       array(select concat_ws(' ', outbox_id, sent, case when sent then at end) from notify.settled order by outbox_id) as settled,
       array(select concat_ws(' ', id, last_notified_at) from public.capacity_requests order by id) as told,
       array(select name from outbox.streams where followed) as followed`;

describe.each(everyVersion)("an upgrade on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const engine = new Engine(surfaces.db);
  const streamOf = async (name: string) => {
    const { id } = await oneOf<{ id: number }>(surfaces.superuser, "select outbox.stream_id($1) as id", [name]);
    return { id, name };
  };
  beforeAll(() => engine.start());

  test("fills in what was delivered and what was skipped, but nothing that failed or waits", async () => {
    await rowsOf(surfaces.superuser, "update outbox.limits set min_interval_ms = 0");
    const [capacity, people] = [await streamOf("capacity"), await streamOf("people")];
    const failed = await surfaces.create();
    const [row] = (await engine.claim(capacity)).filter((claimed) => claimed.key === `${failed.id}:slack`);
    await engine.settle(capacity, [{ row: row!, outcome: "rejected" }]);
    await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    await surfaces.release();
    await engine.drain(capacity);
    const [first, ...rest] = await engine.claim(people);
    await engine.settle(people, [{ row: first!, outcome: "retry" }, ...rest.map((claimed) => ({ row: claimed }))]);
    await engine.skip([first!.outbox_id]);
    await surfaces.create();
    const keyed = await surfaces.create({ key: "Zugzwang 7" });

    const enqueued = async (tenant: string | null) =>
      oneOf<{ id: string }>(
        surfaces.superuser,
        "select outbox_id as id from outbox.add_row(false, $1, 'payments', 'k' || gen_random_uuid(), 'i' || gen_random_uuid(), 'x', 'stripe', '{}')",
        [tenant],
      );
    const [refund, foreign] = [await enqueued("acme"), await enqueued(null)];
    const before = await oneOf<Record<string, string[]>>(surfaces.superuser, known);
    expect(before["settled"]).toHaveLength(rest.length + 1);
    expect(before["followed"]).toEqual(["people"]);
    const lanes = before["lanes"] ?? [];
    const delivered = lanes.filter((line) => /:\d\d/.test(line));
    expect(delivered.length).toBeGreaterThan(0);
    expect(delivered.length).toBeLessThan(lanes.length);

    // The databases of most tests have fewer partitions, which the upgrade does not know.
    const schema = (await withConnection(surfaces.db.superuserUrl, dumpSchema)).replace("DEFAULT 2)", "DEFAULT 30)");
    await withConnection(surfaces.db.superuserUrl, (client) => client.query(takeBack));
    await rowsOf(surfaces.superuser, "update capacity.submissions set idempotency_key = 'Zugzwang 7'");
    const { applied } = await withConnection(surfaces.db.url, (client) => migrate(client));
    expect(applied.slice(0, 3).map((path) => path.slice(11, 15))).toEqual(["0049", "0050", "0051"]);
    expect(await oneOf(surfaces.superuser, known)).toEqual(before);
    // Keys that were stored in clear text are hashed, and still recognise a repeat.
    expect(await tracesOf(surfaces.db, ["Zugzwang 7"])).toEqual([]);
    expect((await surfaces.create({ key: "Zugzwang 7" })).id).toBe(keyed.id);
    expect(await withConnection(surfaces.db.superuserUrl, dumpSchema)).toBe(schema);

    const rail = await oneOf<{ id: number }>(
      surfaces.superuser,
      "select rail_id as id from outbox.rails where name = 'stripe'",
    );
    const sent = (await engine.claim(await streamOf("payments"))).filter(
      (claimed) => "rail_id" in claimed && claimed.rail_id === rail.id,
    );
    expect(idsOf(sent)).toEqual([refund.id]);
    expect(await rowsOf(surfaces.superuser, "select stream, rail, oldest from outbox.ungranted()")).toEqual([
      { stream: "payments", rail: "stripe", oldest: foreign.id },
    ]);
    const refunds = "select writers::text[] as writers from outbox.streams where name = 'refunds'";
    expect(await oneOf(surfaces.superuser, refunds)).toEqual({ writers: [] });
    // Relays with the right rails find what waited then.
    expect(await engine.drain(capacity)).not.toEqual([]);
  });
});
