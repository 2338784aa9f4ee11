/** Coalescing leaves a row out only where a later one is sent in its place: with dates, expiries, retries and redrives. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { idsOf, rowsOf, startEngine, unique, type Engine, type RowInput, type Stream } from "../harness.ts";
import { lastOf, LaneModel, type ModelRow } from "../verify/lane-model.ts";

const inHours = (hours: number): Date => new Date(Date.now() + hours * 3_600_000);
const lasting = (hours: number): RowInput => ({ coalesceKey: "c", expiresAt: inHours(hours) });
const lasts: RowInput = { coalesceKey: "c" };
const plain: RowInput = {};

interface Step {
  readonly rows: readonly { key: "a" | "b" | null; due: number; expires: number | null; priority: number }[];
  readonly fails: boolean;
  readonly hours: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    rows: fc.array(
      fc.record({
        key: fc.constantFrom("a", "a", "b", null),
        due: fc.constantFrom(0, 0, 0, 1, 2),
        expires: fc.constantFrom(null, null, -1, 0, 1, 2, 3),
        priority: fc.constantFrom(5, 5, 9),
      }),
      { maxLength: 4 },
    ),
    fails: fc.boolean(),
    hours: fc.nat({ max: 2 }),
  }),
  { minLength: 1, maxLength: 6 },
);

describe.each(POSTGRES_VERSIONS)("coalescing on PostgreSQL %i", async (version) => {
  const engine = await startEngine(version);

  /** Enqueues rows of one key, and returns which are sent immediately and which when everything is due, by position. */
  async function sentOf(...inputs: readonly RowInput[]): Promise<{ now: number[]; later: number[] }> {
    const stream = await engine.stream();
    const ids: string[] = [];
    for (const input of inputs) ids.push((await engine.enqueue(stream, input)).outbox_id);
    const places = async (): Promise<number[]> => (await engine.drain(stream)).map((id) => ids.indexOf(id));
    const now = await places();
    await engine.makeDue(stream);
    return { now, later: await places() };
  }

  describe("a row is left out only for one that will be sent", () => {
    test.each<[string, readonly RowInput[], number[], number[]]>([
      ["an expired row replaces nothing", [lasts, lasting(-1)], [0], []],
      ["nor do several", [lasts, lasting(-2), lasting(-1)], [0], []],
      ["a row dated ahead replaces nothing that is due", [lasts, { ...lasts, notBefore: inHours(1) }], [0], [1]],
      ["nor does one behind a dated row", [lasts, { notBefore: inHours(1) }, lasts], [0], [1, 2]],
      [
        "a row whose date has passed holds nothing",
        [lasts, { notBefore: inHours(1), expiresAt: inHours(-1) }, lasts],
        [2],
        [],
      ],
      [
        "behind a dated row the later one is sent when its time has come",
        [{ notBefore: inHours(1) }, lasts, lasts],
        [],
        [0, 2],
      ],
      [
        "of two dated rows the later one is sent, once both are due",
        [
          { ...lasts, notBefore: inHours(2) },
          { ...lasts, notBefore: inHours(1) },
        ],
        [],
        [1],
      ],
      [
        "a row that never expires replaces whatever is due before it",
        [lasts, lasting(3), plain, lasting(1), lasts],
        [2, 4],
        [],
      ],
    ])("%s", async (_what, rows, now, later) => {
      expect(await sentOf(...rows)).toEqual({ now, later });
    });
  });

  describe("a row that expires replaces the one right before it, if that one alone would not have been kept", () => {
    test.each<[string, readonly RowInput[], number[], number[]]>([
      ["it expires later", [lasting(1), lasting(2)], [1], []],
      ["a chain of them leaves the last", [lasting(1), lasting(2), lasting(3), lasting(4)], [3], []],
      [
        "an expired row between them does not matter",
        [lasting(1), lasting(-1), { expiresAt: inHours(-1) }, lasting(2)],
        [3],
        [],
      ],
      ["not if it expires earlier", [lasting(2), lasting(1)], [0, 1], []],
      ["not if the one before never expires", [lasts, lasting(1)], [0, 1], []],
      ["not over another row", [lasting(1), plain, lasting(2)], [0, 1, 2], []],
      [
        "not over a row of its own key that stays",
        [lasting(1), { ...lasts, notBefore: inHours(1) }, lasting(3)],
        [0],
        [1, 2],
      ],
      [
        "not by another destination",
        [
          { ...lasting(1), destination: "one" },
          { ...lasting(2), destination: "two" },
        ],
        [0, 1],
        [],
      ],
      ["not by another rail, which no relay may serve", [lasting(1), { ...lasting(2), rail: "asking" }], [0, 1], []],
      [
        "not if it is less urgent",
        [
          { ...lasting(1), priority: 9 },
          { ...lasting(2), priority: 1 },
        ],
        [0, 1],
        [],
      ],
    ])("%s", async (_what, rows, now, later) => {
      expect(await sentOf(...rows)).toEqual({ now, later });
    });
  });

  describe("a row that was given up and is redriven", () => {
    test.each(["retry", "unknown"] as const)(
      "is sent while the later one waits for its next try (%s)",
      async (outcome) => {
        const { stream, dead, tried } = await oneDead(engine, outcome);
        await engine.redrive([dead]);
        expect(await engine.drain(stream)).toEqual([dead]);
        await engine.makeDue(stream);
        expect(await engine.drain(stream)).toEqual([tried]);
      },
    );

    test.each(["retry", "unknown"] as const)("is left out when the later one is due again (%s)", async (outcome) => {
      const { stream, dead, tried } = await oneDead(engine, outcome);
      await engine.makeDue(stream);
      await engine.redrive([dead]);
      expect(await engine.drain(stream)).toEqual([tried]);
      expect(await engine.states(dead)).toEqual(["DISPATCHING", "FAILED", "REDRIVEN", "SKIPPED"]);
    });

    test("is sent when a row that may have arrived is between it and a later one", async () => {
      const { stream, dead, tried } = await oneDead(engine, "unknown");
      const last = await engine.enqueue(stream, lasts);
      await engine.redrive([dead]);
      expect(await engine.drain(stream)).toEqual([dead]);
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual([tried, last.outbox_id]);
    });

    test("is left out for what waited behind it in a blocked lane", async () => {
      const stream = await engine.stream({ onDead: "block" });
      const first = await engine.enqueue(stream, lasts);
      await engine.kill(stream);
      const second = await engine.enqueue(stream, lasts);
      expect(await engine.claim(stream)).toEqual([]);
      await engine.redrive([first.outbox_id]);
      expect(await engine.drain(stream)).toEqual([second.outbox_id]);
      expect(await engine.place(first.outbox_id)).toBe("skipped");
    });
  });

  test.each(["commit", "rollback"] as const)(
    "a later row that is not committed yet replaces nothing (%s)",
    async (end) => {
      const stream = await engine.stream();
      const first = await engine.enqueue(stream, lasts);
      const producer = await engine.db.as("headroom_ingest").connect();
      await producer.query("begin");
      const second = await engine.enqueue(stream, lasts, producer);
      const claimed = await engine.claim(stream);
      await producer.query(end);
      await producer.end();
      expect(idsOf(claimed)).toEqual([first.outbox_id]);
      await engine.deliver(stream, claimed);
      await engine.makeDue(stream);
      expect(await engine.drain(stream)).toEqual(end === "commit" ? [second.outbox_id] : []);
    },
  );

  describe("for any rows at any times", () => {
    test("the last row of every key is sent exactly when it would be without coalescing", async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (script) => {
          const stream = await engine.stream();
          const model = new LaneModel();
          const rows: ModelRow[] = [];
          for (const step of script) {
            const added = step.rows.map((row, index) => rowOf(row, rows.length + index + 1, model.now));
            rows.push(...added);
            for (const row of added) model.enqueue(row);
            await put(engine, stream, added, model.now);
            for (const minutes of [0, step.hours * 60 + 1]) {
              model.advance(minutes);
              await passTime(engine, stream, minutes);
              model.drain();
              await engine.drain(stream);
              expect(lastOf(await fatesOf(engine, stream, "delivered"))).toEqual(model.lastSent());
            }
          }
        }),
        { numRuns: 40 },
      );
    });

    test("though tries fail, a row that was left out has a later one that was sent or expired no earlier", async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (script) => {
          const stream = await engine.stream({ maxTries: 100 });
          const rows: ModelRow[] = [];
          let now = 0;
          for (const step of script) {
            const added = step.rows.map((row, index) => rowOf(row, rows.length + index + 1, now));
            rows.push(...added);
            await put(engine, stream, added, now);
            const [first, ...tail] = await engine.claim(stream);
            if (first !== undefined) {
              await engine.settle(stream, [
                { row: first, outcome: step.fails ? "retry" : "delivered", afterMs: 3_600_000 },
                ...tail.map((row) => ({ row, outcome: "released" as const })),
              ]);
            }
            now += step.hours * 60 + 1;
            await passTime(engine, stream, step.hours * 60 + 1);
          }
          await passTime(engine, stream, 1_440);
          await engine.drain(stream);
          const sent = await fatesOf(engine, stream, "delivered");
          const expired = new Set((await fatesOf(engine, stream, "expired")).map(({ seq }) => seq));
          for (const left of await fatesOf(engine, stream, "superseded")) {
            const before = rows[left.seq - 1]!.expiresAt ?? Infinity;
            const stands = rows
              .slice(left.seq)
              .filter(({ coalesceKey }) => coalesceKey === left.coalesceKey)
              .some(
                ({ seq, expiresAt }) =>
                  sent.some((row) => row.seq === seq) || (expired.has(seq) && expiresAt! >= before),
              );
            expect(stands, `row ${left.seq} of ${JSON.stringify(rows)}`).toBe(true);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
});

/** One row is dead; the next of its key was tried, with this outcome. */
async function oneDead(
  engine: Engine,
  outcome: "retry" | "unknown",
): Promise<{ stream: Stream; dead: string; tried: string }> {
  const stream = await engine.stream();
  await engine.enqueue(stream, lasts);
  const { outbox_id: dead } = await engine.kill(stream);
  const { outbox_id: tried } = await engine.enqueue(stream, lasts);
  await engine.settle(stream, [{ row: await engine.claimOne(stream), outcome }]);
  return { stream, dead, tried };
}

/** Dates are whole hours, expiries half hours, and each step takes a minute more than its hours: nothing falls on a boundary. */
function rowOf(row: Step["rows"][number], seq: number, now: number): ModelRow {
  const expiresAt = row.expires === null ? null : now + row.expires * 60 + 30;
  const special = row.key !== null || row.due > 0 || expiresAt !== null;
  return { seq, coalesceKey: row.key, dueAt: now + row.due * 60, expiresAt, priority: row.priority, special };
}

async function put(engine: Engine, stream: Stream, rows: readonly ModelRow[], now: number): Promise<void> {
  const at = (minutes: number): Date => new Date(Date.now() + (minutes - now) * 60_000);
  await engine.enqueueMany(
    rows.map(({ seq, coalesceKey, dueAt, expiresAt, priority }) => ({
      stream: stream.name,
      key: "k",
      instruction_id: unique("i"),
      idempotency_key: String(seq),
      rail: "sure",
      payload: {},
      priority,
      coalesce_key: coalesceKey,
      ...(dueAt > now ? { not_before: at(dueAt) } : {}),
      ...(expiresAt === null ? {} : { expires_at: at(expiresAt) }),
    })),
  );
}

/** Rows by their last line: delivered, or why they were skipped. */
function fatesOf(
  engine: Engine,
  stream: Stream,
  fate: "delivered" | "superseded" | "expired",
): Promise<Pick<ModelRow, "seq" | "coalesceKey">[]> {
  return rowsOf(
    engine.superuser,
    `select m.seq, m.coalesce_key as "coalesceKey"
       from outbox.payloads m join outbox.attempts a on a.outbox_id = m.outbox_id
      where m.stream_id = $1 and case $2 when 'delivered' then a.state = 'DISPATCHED' else a.error_code = $2 end order by m.seq`,
    [stream.id, fate],
  );
}

/** As if that many minutes had passed for everything that waits. */
async function passTime(engine: Engine, stream: Stream, minutes: number): Promise<void> {
  await rowsOf(
    engine.superuser,
    `with head as (update outbox.heads set due = due - $2 * interval '1 minute' where stream_id = $1)
     update outbox.pending p set due = due - $2 * interval '1 minute', expires_at = expires_at - $2 * interval '1 minute'
       from outbox.lanes l where l.lane_id = p.lane_id and l.stream_id = $1`,
    [stream.id, minutes],
  );
}
