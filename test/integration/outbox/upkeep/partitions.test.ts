import { describe, expect, test } from "vitest";
import { toHeadroomError } from "../../../../src/db/errors.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf, startEngine } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("partitions ahead, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version, "whole");
  const status = () =>
    rowsOf<{ class: string; days_ahead: number; partitions: number }>(
      engine.executor,
      "select class, days_ahead, partitions from outbox.partition_status()",
    );

  test("thirty days are covered from the start, and more are made on request", async () => {
    const before = await status();
    expect(before.map((row) => row.class)).toEqual(["forever", "week", "quarter"]);
    expect(before.every((row) => row.days_ahead >= 29)).toBe(true);
    const made = await oneOf<{ n: number }>(engine.executor, "select outbox.ensure_partitions(60) as n");
    expect(made.n).toBeGreaterThan(0);
    expect((await status()).every((row) => row.days_ahead >= 59)).toBe(true);
    expect(await oneOf(engine.executor, "select outbox.ensure_partitions(60) as n")).toEqual({ n: 0 });
  });

  test("making them waits for no claim, and no claim waits for it", async () => {
    const stream = await engine.stream();
    await engine.enqueue(stream);
    const [relay, maker] = await engine.db.twoConnections("headroom_executor");
    await relay.query("begin");
    const claimed = await engine.claim(stream, {}, relay);
    await maker.query("set lock_timeout = '2s'");
    await maker.query("begin");
    expect((await oneOf<{ n: number }>(maker, "select outbox.ensure_partitions(90) as n")).n).toBeGreaterThan(0);
    await relay.query("commit");
    await relay.query("set lock_timeout = '2s'");
    await engine.settle(
      stream,
      claimed.map((row) => ({ row })),
      relay,
    );
    await maker.query("commit");
    await Promise.all([relay.end(), maker.end()]);
  });

  test("after a long time without a relay the missing days are made, so that what was enqueued then can be claimed", async () => {
    const leaves = await rowsOf<{ name: string }>(
      engine.superuser,
      "select partition::text as name from outbox.archive_partitions() where class_id = 2 and to_at > now() - interval '1 day'",
    );
    for (const leaf of leaves) await rowsOf(engine.superuser, `drop table ${leaf.name}`);
    const long = await engine.db.as("headroom_owner").connect();
    await long.query("set role headroom_owner");
    await long.query(
      `do $$ declare v_day timestamptz := date_trunc('day', now(), 'UTC') - interval '20 days'; begin
         create table outbox.attempts_week_old (like outbox.attempts including defaults including constraints);
         perform outbox.protect_archive_table('outbox.attempts_week_old');
         execute format('alter table outbox.attempts_week attach partition outbox.attempts_week_old for values from (%L) to (%L)',
                        outbox.partition_floor(v_day), outbox.partition_floor(v_day + interval '1 day'));
       end $$`,
    );
    await long.end();
    const stream = await engine.stream({ retention: "week" });
    const row = await engine.enqueue(stream);
    const [old] = await rowsOf<{ id: string }>(
      engine.superuser,
      `with old as (select encode(overlay(uuid_send($1::uuid) placing substring(uuid_send(outbox.partition_floor(now() - interval '9 days')) from 1 for 6) from 1 for 6), 'hex')::uuid as id),
            a as (update outbox.payloads m set outbox_id = old.id from old where m.outbox_id = $1),
            b as (update outbox.dedupe d set outbox_id = old.id from old where d.outbox_id = $1)
       update outbox.pending p set outbox_id = old.id from old where p.outbox_id = $1 returning old.id`,
      [row.outbox_id],
    );
    const refusal = await refusalOf(engine.claim(stream));
    expect(toHeadroomError(refusal)).toMatchObject({
      code: "partition_missing",
      sqlState: "HR009",
      httpStatus: 503,
      hint: expect.stringContaining("outbox.ensure_partitions()"),
    });
    await rowsOf(engine.executor, "select outbox.ensure_partitions(30)");
    expect(await engine.drain(stream)).toEqual([old!.id]);
  });

  test("a gap ahead ends the covered range", async () => {
    const [leaf] = await rowsOf<{ name: string }>(
      engine.superuser,
      "select partition::text as name from outbox.archive_partitions() where class_id = 2 and from_at > now() + interval '3 days' order by from_at limit 1",
    );
    await rowsOf(engine.superuser, `drop table ${leaf!.name}`);
    const week = (await status()).find((row) => row.class === "week");
    expect(week!.days_ahead).toBeGreaterThan(2);
    expect(week!.days_ahead).toBeLessThanOrEqual(4);
    await rowsOf(engine.executor, "select outbox.ensure_partitions(30)");
    expect((await status()).find((row) => row.class === "week")!.days_ahead).toBeGreaterThan(29);
  });
});
