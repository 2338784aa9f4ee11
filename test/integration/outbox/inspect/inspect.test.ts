import { describe, expect, test } from "vitest";
import type { RefusalCode } from "../../../../src/db/refusals.gen.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf, refusedAs, rowsOf, startEngine, unique } from "../harness.ts";
import { tracesOf } from "../../capacity/traces.ts";

interface DeadLetter {
  readonly outbox_id: string;
  readonly key: string | null;
  readonly parked: boolean;
}

describe.each(POSTGRES_VERSIONS)("what operators see, on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);
  const nobody = "01900000-0000-7000-8000-000000000000";

  const erase = (id: string): Promise<unknown> =>
    rowsOf(engine.control, "select outbox.erase_payload($1, 'ann', 'asked to')", [id]);

  describe("inspect", () => {
    test("shows the facts of a pending row, and when it is next tried", async () => {
      const stream = await engine.stream();
      const destination = unique("d");
      const row = await engine.enqueue(stream, {
        key: "customer",
        instruction: "order-1",
        payload: { text: "hello", none: null },
        priority: 7,
        destination,
        coalesceKey: "root",
        captures: { ts: ["ts"] },
        expiresAt: new Date(Date.now() + 3_600_000),
      });
      expect(await engine.inspect(row.outbox_id)).toMatchObject({
        outbox_id: row.outbox_id,
        stream: stream.name,
        ordered: true,
        key: "customer",
        seq: 1,
        rail: "sure",
        instruction_id: "order-1",
        idempotency_key: "1",
        priority: 7,
        destination,
        coalesce_key: "root",
        captures: { ts: ["ts"] },
        payload: { text: "hello", none: null },
        payload_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        place: "pending",
        tries: 0,
        next_attempt_at: expect.any(String),
        lines: [],
      });
      await engine.drain(stream);
    });

    test("says what holds a due row: a rail that nobody serves, an open circuit, a rate limit", async () => {
      const stream = await engine.stream();
      const destination = unique("held");
      const row = await engine.enqueue(stream, { destination });
      const heldBy = async (): Promise<unknown> => (await engine.inspect(row.outbox_id)).held_by;
      await rowsOf(engine.superuser, "update outbox.rails set served_at = null where name = 'sure'");
      expect(await heldBy()).toEqual({ reason: "rail_not_served" });
      await rowsOf(engine.superuser, "update outbox.rails set served_at = now() where name = 'sure'");
      expect(await heldBy()).toBeUndefined();
      const gate = `insert into outbox.gates (name, next_slot_at, open_until, last_error_code) values ($1, $2, $3, 'http_503')
                    on conflict (name) do update set next_slot_at = excluded.next_slot_at, open_until = excluded.open_until`;
      await rowsOf(engine.superuser, gate, [destination, "2100-01-01", null]);
      expect(await heldBy()).toEqual({ reason: "rate_limit", until: expect.stringContaining("2100-01-01") });
      await rowsOf(engine.superuser, gate, [destination, "2100-01-01", "2100-01-02"]);
      expect(await heldBy()).toMatchObject({ reason: "circuit_open", last_error_code: "http_503" });
      await rowsOf(engine.superuser, "delete from outbox.gates where name = $1", [destination]);
      await engine.drain(stream);
    });

    test("follows a row through flight, retry, death, redrive and delivery, naming the relay", async () => {
      const stream = await engine.stream({ maxTries: 2 });
      const row = await engine.enqueue(stream);
      const claimed = await engine.claimOne(stream);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({
        place: "in_flight",
        tries: 1,
        claim_id: claimed.claim_id,
        lease_until: expect.any(String),
      });
      await engine.settle(stream, [{ row: claimed, outcome: "retry", code: "http_503", message: "busy" }]);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({ place: "pending", tries: 1 });
      await engine.makeDue(stream);
      await engine.settle(stream, [
        { row: await engine.claimOne(stream), outcome: "rejected", code: "http_400", message: "bad" },
      ]);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({
        place: "dead",
        error_code: "http_400",
        error_message: "bad",
        died_at: expect.any(String),
      });
      await engine.redrive([row.outbox_id]);
      await engine.settle(stream, [
        { row: await engine.claimOne(stream), code: "ok", reference: "ref-9", captured: { id: 5 } },
      ]);
      const end = await engine.inspect(row.outbox_id);
      expect(end).toMatchObject({ place: "delivered", captured: { id: 5 } });
      expect(end["lines"]).toMatchObject([
        { attempt_no: 1, state: "DISPATCHING", relay: "test", relay_id: engine.relayId },
        { attempt_no: 2, state: "RETRYABLE", error_code: "http_503", error_message: "busy", latency_ms: 3 },
        { attempt_no: 3, state: "DISPATCHING" },
        { attempt_no: 4, state: "FAILED", error_code: "http_400" },
        { attempt_no: 5, state: "REDRIVEN", actor: "ann", reason: "fixed" },
        { attempt_no: 6, state: "DISPATCHING" },
        { attempt_no: 7, state: "DISPATCHED", rail_code: "ok", rail_reference: "ref-9" },
      ]);
    });

    test.each([true, false])(
      "shows a receiver's answer until the payload is erased, and no longer (ordered: %s)",
      async (ordered) => {
        const stream = await engine.stream({ ordered, maxTries: 2 });
        const row = await engine.enqueue(stream, { payload: { name: "Zoe Quux" } });
        const claimed = await engine.claimOne(stream);
        const echo = "no such field: Zoe Quux";
        await engine.settle(stream, [{ row: claimed, outcome: "retry", code: "http_400", message: echo }]);
        await engine.makeDue(stream);
        await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "rejected", message: echo }]);
        await engine.skip([row.outbox_id]);
        const said = async () =>
          ((await engine.inspect(row.outbox_id))["lines"] as { error_message?: string }[]).flatMap(
            ({ error_message: message }) => message ?? [],
          );
        expect(await said()).toEqual([echo, echo]);
        expect(await tracesOf(engine.db, ["Quux"])).toEqual(["outbox.answers", "outbox.payloads"]);
        await engine.control.query("select outbox.erase_payload($1, 'ann', 'asked to')", [row.outbox_id]);
        expect(await said()).toEqual([]);
        expect(await tracesOf(engine.db, ["Quux"])).toEqual([]);
      },
    );

    test("names the row that another one waits for, alive or dead", async () => {
      const stream = await engine.stream({ onDead: "block" });
      const [first, second] = await engine.enqueueRow(stream, 2);
      expect(await engine.inspect(second!.outbox_id)).toMatchObject({
        place: "pending",
        waits_for: { outbox_id: first!.outbox_id, seq: 1, dead: false },
      });
      await engine.kill(stream);
      expect(await engine.inspect(second!.outbox_id)).toMatchObject({
        waits_for: { outbox_id: first!.outbox_id, dead: true },
      });
      expect(await engine.inspect(first!.outbox_id)).toMatchObject({ place: "dead", blocks_lane: true });
    });

    test("works for rows without order in every state", async () => {
      const stream = await engine.stream({ ordered: false, money: true });
      const row = await engine.enqueue(stream, { key: "k", rail: "blind" });
      expect(await engine.inspect(row.outbox_id)).toMatchObject({
        place: "pending",
        key: "k",
        next_attempt_at: expect.any(String),
      });
      const claimed = await engine.claimOne(stream);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({ place: "in_flight", tries: 1 });
      await engine.settle(stream, [{ row: claimed, outcome: "unknown" }]);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({ place: "parked", uncertain: true });
      await engine.skip([row.outbox_id]);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({ place: "skipped" });
    });

    test("says plainly when there is no such row", async () => {
      expect(await refusalOf(engine.inspect(nobody))).toMatchObject({
        ...refusedAs("not_found"),
        hint: expect.any(String),
      });
    });
  });

  describe("dead letters", () => {
    test("are listed by stream, code, time and doubt, in pages, and counted by the same filters", async () => {
      const stream = await engine.stream({ money: true });
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        ids.push((await engine.enqueue(stream, { key: `k${n}`, rail: "blind" })).outbox_id);
        await engine.kill(stream, n % 2 === 0 ? "rejected" : "unknown");
      }
      const list = (filter: string, values: readonly unknown[] = []) =>
        rowsOf<DeadLetter>(engine.control, `select * from outbox.list_dead(p_stream => $1${filter})`, [
          stream.name,
          ...values,
        ]);
      const count = async (filter: string, values: readonly unknown[] = []) =>
        (
          await oneOf<{ n: number }>(engine.control, `select outbox.count_dead(p_stream => $1${filter}) as n`, [
            stream.name,
            ...values,
          ])
        ).n;
      const all = await list("");
      expect(all.map((row) => row.outbox_id)).toEqual(ids.toSorted());
      expect(all[0]).toMatchObject({
        stream: stream.name,
        rail: "blind",
        error_code: "no",
        tries: 1,
        lines: 2,
        blocks_lane: false,
      });
      expect(await count("")).toBe(5);
      expect((await list(", p_parked => true")).every((row) => row.parked)).toBe(true);
      expect(await count(", p_parked => true")).toBe(2);
      expect(await count(", p_error_code => 'other'")).toBe(0);
      expect(await count(", p_to => now() - interval '1 minute'")).toBe(0);
      expect(await count(", p_from => now() - interval '1 hour', p_to => now() + interval '1 hour'")).toBe(5);
      const pages: string[] = [];
      let after: string | null = null;
      for (let page = 0; page < 4; page += 1) {
        const rows: DeadLetter[] = await list(", p_limit => 2, p_after => $2", [after]);
        pages.push(...rows.map((row) => row.outbox_id));
        after = rows.at(-1)?.outbox_id ?? after;
      }
      expect(pages).toEqual(ids.toSorted());
    });

    test.each<[string, string, RefusalCode]>([
      ["an unknown stream", "select * from outbox.list_dead('nope')", "unknown_stream"],
      ["an unknown stream in a count", "select outbox.count_dead('nope')", "unknown_stream"],
      ["an empty page", "select * from outbox.list_dead(p_limit => 0)", "invalid_input"],
      ["a huge page", "select * from outbox.list_dead(p_limit => 10001)", "invalid_input"],
    ])("%s is refused", async (_case, call, code) => {
      expect(await refusalOf(rowsOf(engine.control, call))).toMatchObject(refusedAs(code));
    });
  });

  describe("status", () => {
    test("counts rows that wait, are due, in flight, stuck, blocked and given up", async () => {
      const stream = await engine.stream({ onDead: "block", runLength: 2 });
      const status = () =>
        oneOf<Record<string, unknown>>(engine.control, "select * from outbox.status() where stream = $1", [
          stream.name,
        ]);
      expect(await status()).toMatchObject({
        pending: 0,
        due: 0,
        in_flight: 0,
        dead: 0,
        lanes: 0,
        oldest_pending_age_seconds: 0,
      });
      await engine.enqueueRow(stream, 3, { key: "a", rail: "blind" });
      await engine.enqueue(stream, { key: "b", notBefore: new Date(Date.now() + 3_600_000) });
      expect(await status()).toMatchObject({ ordered: true, pending: 4, due: 1, lanes: 2, in_flight: 0 });
      await engine.claim(stream);
      expect(await status()).toMatchObject({ pending: 2, due: 0, in_flight: 2, stuck: 0 });
      await engine.expireLeases(stream);
      expect(await status()).toMatchObject({ in_flight: 2, stuck: 2 });
      await engine.reap();
      expect(await status()).toMatchObject({ pending: 4, due: 1, in_flight: 0, retrying: 2 });
      await engine.kill(stream);
      expect(await status()).toMatchObject({ pending: 3, dead: 1, blocked_lanes: 1, due: 0, parked: 1 });
    });

    test("the age is that of the oldest row that is due, and does not shrink when a row is retried", async () => {
      const stream = await engine.stream();
      const age = async () =>
        (
          await oneOf<{ age: number }>(
            engine.control,
            "select oldest_pending_age_seconds as age from outbox.status() where stream = $1",
            [stream.name],
          )
        ).age;
      await engine.enqueue(stream, { key: "later", notBefore: new Date(Date.now() + 3_600_000) });
      expect(await age()).toBe(0);
      await engine.enqueue(stream, { key: "now" });
      await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "retry", afterMs: 3_600_000 }]);
      expect(await age()).toBeGreaterThan(0);
    });
  });

  describe("erasing a payload", () => {
    test("removes the payload of a finished row and leaves hash, facts and archive", async () => {
      const stream = await engine.stream();
      const instruction = unique("i");
      const row = await engine.enqueue(stream, { instruction, payload: { name: "Jo" } });
      await engine.drain(stream);
      const before = await engine.inspect(row.outbox_id);
      expect(await refusalOf(engine.enqueue(stream, { instruction, payload: { name: "Bo" } }))).toMatchObject(
        refusedAs("idempotency_conflict"),
      );
      await erase(row.outbox_id);
      await erase(row.outbox_id);
      const after = await engine.inspect(row.outbox_id);
      expect(after).toMatchObject({
        payload: null,
        payload_hash: before["payload_hash"],
        lines: before["lines"],
        erased: { by: "ann", reason: "asked to" },
      });
      expect(await engine.enqueue(stream, { instruction, payload: { name: "Jo" } })).toMatchObject({ created: false });
      // Without the salt nobody can tell whether the content is the same: only the key decides.
      expect(await engine.enqueue(stream, { instruction, payload: { name: "Bo" } })).toMatchObject({
        created: false,
        outbox_id: row.outbox_id,
      });
    });

    test.each([
      ["with order", true],
      ["without order", false],
    ])("is refused while a row %s is pending, in flight or dead", async (_name, ordered) => {
      const stream = await engine.stream({ ordered });
      const row = await engine.enqueue(stream, ordered ? {} : { key: null });
      expect(await refusalOf(erase(row.outbox_id))).toMatchObject(refusedAs("conflict"));
      const claimed = await engine.claimOne(stream);
      expect(await refusalOf(erase(row.outbox_id))).toMatchObject(refusedAs("conflict"));
      await engine.settle(stream, [{ row: claimed, outcome: "rejected" }]);
      expect(await refusalOf(erase(row.outbox_id))).toMatchObject({
        ...refusedAs("conflict"),
        hint: expect.stringContaining("skip"),
      });
      await engine.skip([row.outbox_id]);
      await erase(row.outbox_id);
      expect(await engine.inspect(row.outbox_id)).toMatchObject({ place: "skipped", payload: null });
    });

    test("of a row that does not exist is not found", async () => {
      expect(await refusalOf(erase(nobody))).toMatchObject(refusedAs("not_found"));
    });
  });
});
