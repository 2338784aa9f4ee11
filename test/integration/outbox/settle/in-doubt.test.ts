/** Dead letters that may have arrived: a person decides about those that the machine cannot settle, and about no others. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf, startEngine, type Engine, type Stream, type StreamOptions } from "../harness.ts";

const anHour = 3_600_000;

/** By the rail's capability, how long its receiver remembers, and whether the stream tolerates duplicates. */
const cases: readonly (readonly [string, string, number | null, StreamOptions, "dead" | "parked"])[] = [
  ["a receiver that drops repeats", "idempotent", null, {}, "dead"],
  ["one that drops them for an hour", "idempotent", anHour, {}, "dead"],
  ["one that may have forgotten", "idempotent", 1_000, {}, "parked"],
  ["one that can be asked", "lookup", null, {}, "dead"],
  ["one that can do neither", "blind", null, {}, "parked"],
  ["one that can do neither, where a duplicate is harmless", "blind", null, { resendBlind: true }, "dead"],
  ["money, whatever the rail can prove", "idempotent", null, { money: true }, "parked"],
];

describe.each(POSTGRES_VERSIONS)("dead letters in doubt on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  describe.each(cases)("of %s", (_what, capability, windowMs, options, place) => {
    const rail = [capability, windowMs ?? "for-ever"].join("-");

    async function dead(how: keyof typeof deaths, ordered: boolean): Promise<{ stream: Stream; id: string }> {
      await rowsOf(engine.executor, "select outbox.register_rail($1, $2, 5000, $3)", [rail, capability, windowMs]);
      const stream = await engine.stream({ ...options, ordered, maxTries: how === "refused" ? 5 : 1 });
      const { outbox_id: id } = await engine.enqueue(stream, { key: ordered ? "k" : null, rail });
      await deaths[how](engine, stream);
      return { stream, id };
    }

    test.each([
      ["unanswered", true],
      ["unanswered", false],
      ["reaped", true],
      ["reaped", false],
    ] as const)(`used up its tries (%s, ordered: %s): ${place}`, async (how, ordered) => {
      const { id } = await dead(how, ordered);
      expect(await engine.inspect(id)).toMatchObject({ place, uncertain: true });
      expect(await engine.redrive([id])).toMatchObject([{ result: place === "dead" ? "redriven" : "parked" }]);
    });
  });

  test.each([true, false])(
    "redriven it is still in doubt, so that the rail's rules apply (ordered: %s)",
    async (ordered) => {
      const stream = await engine.stream({ ordered, maxTries: 2 });
      const { outbox_id: id } = await engine.enqueue(stream, { key: ordered ? "k" : null });
      await deaths.refused(engine, stream);
      await rowsOf(
        engine.superuser,
        "update outbox.dead set first_sent_at = first_sent_at - interval '1 day' where outbox_id = $1",
        [id],
      );
      expect(await engine.redrive([id])).toMatchObject([
        { result: "redriven", detail: expect.stringContaining("may have arrived") },
      ]);
      const claimed = await engine.claimOne(stream);
      expect(claimed).toMatchObject({ outbox_id: id, uncertain: true, tries: 0 });
      expect(claimed.sent_ago_ms).toBeGreaterThan(80_000_000);
      const line = await oneOf(
        engine.control,
        "select uncertain from outbox.attempts where outbox_id = $1 and state = 'REDRIVEN'",
        [id],
      );
      expect(line).toEqual({ uncertain: true });
      expect(await rowsOf(engine.superuser, "select * from outbox.verify_lines($1, $2)", [zeros, id])).toEqual([]);
      await engine.deliver(stream, [claimed]);
    },
  );

  test("resolved as not delivered it is redriven without a doubt", async () => {
    const stream = await engine.stream({ maxTries: 1 });
    const { outbox_id: id } = await engine.enqueue(stream);
    await deaths.unanswered(engine, stream);
    await engine.resolve(id, false);
    await engine.redrive([id]);
    const claimed = await engine.claimOne(stream);
    expect(claimed.uncertain).toBe(false);
    await engine.deliver(stream, [claimed]);
  });

  test("redriven after its time it is still settled, and the operator gets a sensible message", async () => {
    const stream = await engine.stream({ maxTries: 1 });
    const { outbox_id: id } = await engine.enqueue(stream, { expiresAt: new Date(Date.now() + anHour) });
    await deaths.unanswered(engine, stream);
    await rowsOf(engine.superuser, "update outbox.payloads set expires_at = now() where outbox_id = $1", [id]);
    const [result] = await engine.redrive([id]);
    expect(result?.detail).not.toContain("expired");
    expect(await engine.drain(stream)).toEqual([id]);
  });
});

const zeros = "00000000-0000-0000-0000-000000000000";

const deaths = {
  async unanswered(engine: Engine, stream: Stream): Promise<void> {
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown", code: "timed_out" }]);
  },
  async reaped(engine: Engine, stream: Stream): Promise<void> {
    await engine.claimOne(stream);
    await engine.expireLeases(stream);
    await engine.reap();
  },
  /** The first call got no answer, the second a refusal. */
  async refused(engine: Engine, stream: Stream): Promise<void> {
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "unknown", code: "timed_out" }]);
    await engine.makeDue(stream);
    await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome: "rejected", code: "http_4xx" }]);
  },
};
