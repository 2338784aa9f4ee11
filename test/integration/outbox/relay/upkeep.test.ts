/** What a relay does besides sending: it takes back what dead relays held, and collects what is past its retention. */
import { expect, test } from "vitest";
import { openSidePool, type Task } from "../../../../src/outbox/index.ts";
import { probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

test("a relay that died with hundreds of small claims is cleared in one sweep", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const rows = await stage.enqueueMany(Array.from({ length: 250 }, () => ({ stream, rail: rail.name })));
  // Each row under a separate claim, all of them expired.
  await stage.query(
    `select outbox.claim(r.relay_id, s.stream_id, 1, 1)
       from outbox.start_relay('dead') r(relay_id), outbox.streams s, generate_series(1, 250) where s.name = $1`,
    [stream],
  );
  expect(await stage.query("select count(*)::int as n from outbox.claims")).toEqual([{ n: 250 }]);
  await stage.query("update outbox.claims set lease_until = now() - interval '1 s'");
  // The next sweep is a minute away: what the first leaves would stay.
  const relay = await stage.run({ rails: [rail], streams: [stream], reapMs: 60_000 });
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(relay.counters.reaperRequeues).toBe(250);
  expect(relay.counters.attempts("ZOMBIE_REQUEUE")).toBe(250);
});

test("collecting continues, batch by batch, until nothing past its retention is left", async () => {
  const stream = await stage.stream({ retention: "week", dedupeDays: 8 });
  await stage.query(
    `insert into outbox.dedupe (stream_id, instruction_id, idempotency_key, outbox_id, payload_hash, created_at)
     select s.stream_id, 'old', n::text, gen_random_uuid(), '', now() - interval '9 days'
       from outbox.streams s, generate_series(1, 25000) n where s.name = $1`,
    [stream],
  );
  const relay = await stage.run({ rails: [], streams: [stream] });
  await until(
    () => stage.query("select from outbox.dedupe where instruction_id = 'old' limit 1"),
    (rows) => rows.length === 0,
    "the old keys to be forgotten",
  );
  await until(
    () => relay.log,
    (log) => log.some((entry) => entry.event === "collected"),
    "the log to say so",
  );
  expect(relay.log.find((entry) => entry.event === "collected")).toMatchObject({ keys: 25_000 });
});

test("a lane that nothing would wake is repaired, counted and delivered", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  await stage.query(
    "delete from outbox.heads where lane_id = (select lane_id from outbox.payloads where outbox_id = $1)",
    [outboxId],
  );
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(relay.counters.sweptLanes).toBe(1);
});

test("a relay gives its sign of life although tasks hang on every connection that they have", async () => {
  const key = 730;
  const holder = await stage.db.superuser.connect();
  await holder.query("select pg_advisory_lock($1)", [key]);
  const hang: Task["run"] = async (db) => {
    await db.query({ text: "select pg_advisory_xact_lock($1)", values: [key] });
  };
  const side = openSidePool(stage.db.as("headroom_executor").url);
  const hung = Array.from({ length: 2 }, () =>
    side.lend((db) => hang(db, () => undefined, { onDemand: false }), 60_000),
  );
  const name = "with hung tasks";
  const running = await stage.run({ rails: [], streams: [], name, side });
  await until(
    () =>
      stage.query<{ noted: boolean }>("select seen_at > started_at as noted from outbox.relays where name = $1", [
        name,
      ]),
    ([relay]) => relay?.noted === true,
    "a note",
  );
  await holder.query("select pg_advisory_unlock($1)", [key]);
  await Promise.all(hung);
  await running.stop();
  await side.end();
});
