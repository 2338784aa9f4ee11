/** A gate is held by one relay at a time, never by anything else, and never waited for. */
import { describe, expect, onTestFinished, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { idsOf, oneOf, rowsOf, startEngine, unique } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("gates, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  async function begin(): Promise<TestClient> {
    const client = await engine.db.as("headroom_executor").connect();
    onTestFinished(() => client.end());
    await client.query("set application_name = 'relay that hangs'; begin");
    return client;
  }

  /** A destination with a limit: a relay has to hold its gate. */
  async function limited(): Promise<string> {
    const destination = unique("limited");
    await rowsOf(engine.control, "select outbox.limit_destination($1, 60000)", [destination]);
    return destination;
  }

  test("a login that holds the advisory locks of its name holds up nothing", async () => {
    const [stream, destination] = [await engine.stream(), await limited()];
    const hostile = await engine.db.as("headroom_ingest").connect();
    onTestFinished(() => hostile.end());
    await hostile.query("select pg_advisory_lock(hashtext('outbox.gates'), hashtext($1))", [destination]);
    for (const name of ["outbox.gc", "outbox.ensure_partitions", "outbox.forget_expired", "webhooks.raise_alerts"])
      await hostile.query("select pg_advisory_lock(hashtextextended($1, 0))", [name]);
    const row = await engine.enqueue(stream, { destination });
    expect(idsOf(await engine.claim(stream))).toEqual([row.outbox_id]);
    const { report } = await oneOf<{ report: unknown }>(engine.executor, "select outbox.gc() as report");
    expect(report).toMatchObject({ busy: false });
    const leaf = await oneOf<{ name: string }>(
      engine.superuser,
      "select p.partition::text as name from outbox.archive_partitions() p order by p.to_at desc limit 1",
    );
    await rowsOf(engine.superuser, `drop table ${leaf.name}`);
    expect(await oneOf(engine.executor, "select outbox.ensure_partitions() as made")).toEqual({ made: 1 });
  });

  test.each(["new", "known"])("two relays let one row through a %s gate", async (age) => {
    const [stream, destination] = [await engine.stream(), await limited()];
    if (age === "known") await rowsOf(engine.superuser, "insert into outbox.gates (name) values ($1)", [destination]);
    await engine.enqueue(stream, { key: "a", destination });
    await engine.enqueue(stream, { key: "b", destination });
    const [one, other] = [await begin(), await begin()];
    expect(await engine.claim(stream, {}, one)).toHaveLength(1);
    expect(await engine.claim(stream, {}, other)).toEqual([]);
    await other.query("commit; begin");
    await one.query("commit");
    expect(await engine.claim(stream, {}, other)).toEqual([]);
  });

  test.each(["new", "known"])("a %s gate is released when its relay dies", async (age) => {
    const [stream, destination] = [await engine.stream(), await limited()];
    if (age === "known") await rowsOf(engine.superuser, "insert into outbox.gates (name) values ($1)", [destination]);
    const row = await engine.enqueue(stream, { destination });
    const [one, other] = [await begin(), await begin()];
    expect(await engine.claim(stream, {}, one)).toHaveLength(1);
    await one.query("rollback");
    expect(idsOf(await engine.claim(stream, {}, other))).toEqual([row.outbox_id]);
  });

  test("a new gate that hangs holds up no other new one", async () => {
    const [stream, hung, free] = [await engine.stream(), await limited(), await limited()];
    await engine.enqueue(stream, { key: "a", destination: hung });
    await engine.claim(stream, {}, await begin());
    const row = await engine.enqueue(stream, { key: "b", destination: free });
    expect(idsOf(await engine.claim(stream))).toEqual([row.outbox_id]);
  });

  test("the holder of a lock is named, for one row and for all", async () => {
    const [stream, destination] = [await engine.stream(), await limited()];
    await rowsOf(engine.superuser, "insert into outbox.gates (name) values ($1)", [destination]);
    await rowsOf(engine.superuser, "update outbox.rails set served_at = now()");
    const row = await engine.enqueue(stream, { key: "a", destination });
    const hung = await begin();
    await engine.claim(stream, {}, hung);
    const session = {
      pid: hung.pid,
      login: expect.stringContaining("headroom_executor"),
      application: "relay that hangs",
    };
    const { held_by: heldBy } = await engine.inspect(row.outbox_id);
    expect(heldBy).toMatchObject({ reason: "locked", ...session });
    // An ordinary owner does not see since when: that needs pg_read_all_stats.
    const ofHung = (): Promise<unknown[]> =>
      rowsOf(engine.control, "select * from outbox.held_locks() where pid = $1", [hung.pid]);
    expect(await ofHung()).toEqual([
      expect.objectContaining({ ...session, destinations: [destination], waiting: 0, state: null, since: null }),
    ]);
    const owner = await engine.db.superuser.connect();
    onTestFinished(() => owner.end());
    const blocked = owner.query("update outbox.gates set failures = 0 where name = $1", [destination]);
    await engine.db.waitUntilBlocked(owner);
    expect(await ofHung()).toMatchObject([{ waiting: 1, waiting_since: expect.any(Date) }]);
    await hung.query("rollback");
    await blocked;
    expect(await ofHung()).toEqual([]);
    expect(await engine.inspect(row.outbox_id)).not.toHaveProperty("held_by");
  });
});
