/** Rate limits and circuits of destinations, which all relays share. */
import { expect, test } from "vitest";
import { delivered, probeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

async function limit(
  name: string,
  limits: { intervalMs?: number; threshold?: number; openMs?: number },
): Promise<void> {
  await stage.query("select outbox.limit_destination($1, $2, $3, $4)", [
    name,
    limits.intervalMs ?? null,
    limits.threshold ?? null,
    limits.openMs ?? null,
  ]);
}

interface Destination {
  readonly circuit: string;
  readonly failures: number;
}

async function destination(name: string): Promise<Destination | undefined> {
  const [found] = await stage.query<Destination>(
    "select circuit, failures from outbox.destination_status() where destination = $1",
    [name],
  );
  return found;
}

/** Records every slot that is booked, in the transaction that books it. */
async function recordSlots(): Promise<void> {
  await stage.query("create table if not exists public.booked (name text, slot timestamptz)");
  await stage.query(`
    create or replace function public.record_slot() returns trigger language plpgsql security definer as $$
    begin
      insert into public.booked values (new.name, new.next_slot_at);
      return new;
    end $$`);
  await stage.query(`
    create or replace trigger record_slot after insert or update on outbox.gates for each row
      when (new.next_slot_at > now()) execute function public.record_slot()`);
}

test.each([true, false])("two relays together keep one rate limit (ordered: %s)", async (ordered) => {
  const intervalMs = 150;
  const name = `channel-${ordered}`;
  const rails = [probeRail(), probeRail()];
  const stream = await stage.stream({ ordered });
  await stage.declare(...rails.slice(0, 1));
  await limit(name, { intervalMs });
  await recordSlots();
  const rows = await stage.enqueueMany(Array.from({ length: 8 }, () => ({ stream, rail: "probe", destination: name })));
  for (const rail of rails) await stage.run({ rails: [rail], streams: [stream], pollMs: 250 });
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  // A claim that lets a row pass books the next slot one gap after its own time, by the database's clock.
  const [gaps] = await stage.query<{ booked: number; least_ms: number }>(
    `select count(*)::int as booked, min(gap)::float8 as least_ms
       from (select extract(epoch from slot - lag(slot) over (order by slot)) * 1000 as gap from public.booked where name = $1) g`,
    [name],
  );
  expect(gaps?.booked).toBe(8);
  expect(gaps?.least_ms).toBeGreaterThanOrEqual(intervalMs);
  expect(rails.flatMap((rail) => rail.sent)).toHaveLength(8);
  // Waiting for a slot is not a try, and leaves no line.
  for (const row of rows) expect(await stage.states(row.outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
});

test.each([
  ["429", "retry"],
  ["503 with Retry-After", "unknown"],
] as const)(
  "a request for a pause (%s) pauses the destination for everybody, and does not count against its circuit",
  async (_status, kind) => {
    const name = `quiet-${kind}`;
    const rail = probeRail({
      send: (message, _context, count) =>
        message.destination === name && count === 1
          ? { kind, code: "quiet", reason: "", afterMs: 3_600_000, throttled: true }
          : delivered,
    });
    const stream = await stage.stream();
    await stage.declare(rail);
    await limit(name, { threshold: 1 });
    const throttled = await stage.enqueue({ stream, rail: rail.name, destination: name });
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(throttled.outboxId, "RETRYABLE");
    const waiting = await stage.enqueue({ stream, rail: rail.name, destination: name });
    const free = await stage.enqueue({ stream, rail: rail.name, destination: "elsewhere" });
    await stage.untilState(free.outboxId, "DISPATCHED");
    // It waits in its queue until the hour has passed.
    const [next] = await stage.query<{ wait_ms: number }>(
      "select wait_ms from outbox.next_due(array[(select stream_id from outbox.streams where name = $1)])",
      [stream],
    );
    expect(next?.wait_ms).toBeGreaterThan(3_000_000);
    expect(await stage.states(waiting.outboxId)).toEqual([]);
    expect(await destination(name)).toEqual({ circuit: "closed", failures: 0 });
  },
);

test("a circuit opens after consecutive failures, lets one probe through, and closes when that is answered", async () => {
  const name = "shaky";
  let healthy = false;
  const rail = probeRail({
    send: (message) =>
      message.destination !== name || healthy ? delivered : { kind: "retry", code: "http_500", reason: "" },
  });
  const stream = await stage.stream({ maxTries: 100 });
  await stage.declare(rail);
  await limit(name, { threshold: 3, openMs: 300 });
  const rows = await stage.enqueueMany(Array.from({ length: 6 }, () => ({ stream, rail: "probe", destination: name })));
  const toShaky = (): number => rail.sent.filter((each) => rows.some((row) => row.outboxId === each.outboxId)).length;
  await stage.run({ rails: [rail], streams: [stream], pollMs: 250 });
  await until(
    () => destination(name),
    (found) => found?.circuit === "open",
    "the circuit to open",
  );
  const whenOpen = toShaky();
  // While it is open, only others are served; afterwards a single row is tried, fails, and it opens again.
  const other = await stage.enqueue({ stream, rail: "probe", destination: "steady" });
  await stage.untilState(other.outboxId, "DISPATCHED");
  await until(toShaky, (count) => count > whenOpen, "a probe");
  await until(
    () => destination(name),
    (found) => found?.circuit === "open" && found.failures > 6,
    "the circuit to open again after the probe failed",
  );
  healthy = true;
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(await destination(name)).toEqual({ circuit: "closed", failures: 0 });
});

test("only one probe is in flight while the circuit is half open, whoever asks", async () => {
  const name = "probed";
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const underWay: string[] = [];
  const rails = [1, 2].map(() =>
    probeRail({
      timeoutMs: 20_000,
      send: async (message) => {
        if (message.destination !== name) return delivered;
        underWay.push(message.outboxId);
        await answered;
        return delivered;
      },
    }),
  );
  const stream = await stage.stream();
  await stage.declare(...rails.slice(0, 1));
  await limit(name, { threshold: 1 });
  // As after a failure whose pause has ended: half open.
  await stage.query("insert into outbox.gates (name, failures, open_until) values ($1, 1, now() - interval '1 ms')", [
    name,
  ]);
  const rows = await stage.enqueueMany(Array.from({ length: 5 }, () => ({ stream, rail: "probe", destination: name })));
  for (const rail of rails) await stage.run({ rails: [rail], streams: [stream], pollMs: 250 });
  await until(
    () => underWay.length,
    (count) => count > 0,
    "the probe",
  );
  expect(await destination(name)).toMatchObject({ circuit: "half-open" });
  // Both relays have handled everything that became due after the probe began: each served a later row elsewhere.
  const later = await stage.enqueueMany(
    Array.from({ length: 10 }, () => ({ stream, rail: "probe", destination: "somewhere" })),
  );
  await stage.untilStates(
    later.map((row) => row.outboxId),
    "DISPATCHED",
  );
  expect(underWay).toHaveLength(1);
  answer();
  await stage.untilStates(
    rows.map((row) => row.outboxId),
    "DISPATCHED",
  );
});
