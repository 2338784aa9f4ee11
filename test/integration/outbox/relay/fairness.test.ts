/** What one slow receiver, tenant, stream or rail can take from the others: at most its share. */
import { expect, test, vi } from "vitest";
import { type Gate, delivered, gate, probeRail, type ProbeRail } from "./rails.ts";
import { createStage, until } from "./stage.ts";

const stage = await createStage();

/** Calls whose payload says `slow` wait for the gate. */
function slowRail(open: Gate, name = "probe", concurrency = 100): ProbeRail {
  return probeRail({
    name,
    concurrency,
    timeoutMs: 30_000,
    send: async (message) => {
      if ((message.payload as { slow?: boolean }).slow === true) await open.opened;
      return delivered;
    },
  });
}

/** As Headroom's own functions enqueue, which state the tenant. */
async function enqueueFor(
  tenant: string | null,
  stream: string,
  rows: readonly { destination: string; slow?: boolean }[],
): Promise<string[]> {
  const made = await stage.query<{ id: string }>(
    `select (outbox.add_row(false, $1, $2, r ->> 'destination' || ':' || n, gen_random_uuid()::text, 'x', 'probe',
               jsonb_build_object('slow', coalesce((r -> 'slow')::boolean, false)), p_destination => r ->> 'destination')).outbox_id as id
       from jsonb_array_elements($3) with ordinality a(r, n)`,
    [tenant, stream, JSON.stringify(rows)],
  );
  return made.map((row) => row.id);
}

const many = (count: number, row: (n: number) => { destination: string; slow?: boolean }) =>
  Array.from({ length: count }, (_, n) => row(n));

/** How many of these rows have been claimed at all. */
async function claimedOf(ids: readonly string[]): Promise<number> {
  const [found] = await stage.query<{ n: number }>(
    "select count(distinct outbox_id)::int as n from outbox.attempts where outbox_id = any ($1)",
    [ids],
  );
  return found?.n ?? 0;
}

test.each([true, false])(
  "a slow destination holds a quarter of the calls; what waits for it is not claimed (ordered: %s)",
  async (ordered) => {
    const open = gate();
    const rail = slowRail(open);
    const stream = await stage.stream({ ordered });
    await stage.declare(rail);
    const slow = await enqueueFor(
      "one",
      stream,
      many(60, () => ({ destination: `slow-${ordered}`, slow: true })),
    );
    await stage.run({ rails: [rail], streams: [stream], concurrency: 20 });
    await until(
      () => rail.underWay,
      (count) => count === 5,
      "the slow one's share",
    );
    const quick = [
      ...(await enqueueFor("one", stream, [{ destination: `quick-${ordered}` }])),
      ...(await enqueueFor("two", stream, [{ destination: `other-${ordered}` }])),
      (await stage.enqueue({ stream, rail: rail.name })).outboxId,
    ];
    await stage.untilStates(quick, "DISPATCHED");
    expect(rail.underWay).toBe(5);
    expect(await claimedOf(slow)).toBe(5);
    open.open();
    await stage.untilStates(slow, "DISPATCHED");
    const [lines] = await stage.query(
      "select count(*)::int as n from outbox.attempts where outbox_id = any ($1) and state = 'RELEASED'",
      [slow],
    );
    expect(lines).toEqual({ n: 0 });
  },
);

test("a tenant with any number of slow destinations holds half of the calls", async () => {
  const open = gate();
  const rail = slowRail(open);
  const stream = await stage.stream();
  await stage.declare(rail);
  const slow = await enqueueFor(
    "hog",
    stream,
    many(40, (n) => ({ destination: `hog-${n}`, slow: true })),
  );
  await stage.run({ rails: [rail], streams: [stream], concurrency: 20 });
  await until(
    () => rail.underWay,
    (count) => count === 10,
    "the tenant's share",
  );
  await stage.untilStates(await enqueueFor("guest", stream, [{ destination: "guest" }]), "DISPATCHED");
  expect(rail.underWay).toBe(10);
  expect(await claimedOf(slow)).toBe(10);
  open.open();
  await stage.untilStates(slow, "DISPATCHED");
});

test("however many tenants are slow at the same time, the next one finds room", async () => {
  const open = gate();
  const rail = slowRail(open);
  const stream = await stage.stream();
  await stage.declare(rail);
  const tenants = Array.from({ length: 12 }, (_, n) => `crowd-${n}`);
  const slow: string[] = [];
  for (const tenant of tenants)
    slow.push(
      ...(await enqueueFor(
        tenant,
        stream,
        many(20, () => ({ destination: tenant, slow: true })),
      )),
    );
  await stage.run({ rails: [rail], streams: [stream], concurrency: 40 });
  await until(
    () => rail.underWay,
    (count) => count >= 12,
    "all of the crowd to be served",
  );
  await stage.untilStates(await enqueueFor("late", stream, [{ destination: "late" }]), "DISPATCHED");
  expect(rail.underWay).toBeLessThan(40);
  open.open();
  await stage.untilStates(slow, "DISPATCHED");
});

test("a stream whose calls hang leaves places to the other streams", async () => {
  const open = gate();
  const rail = slowRail(open);
  const [hung, other] = [await stage.stream({ ordered: false }), await stage.stream()];
  await stage.declare(rail);
  const slow = await stage.enqueueMany(
    Array.from({ length: 100 }, () => ({ stream: hung, rail: rail.name, payload: { slow: true } })),
  );
  await stage.run({ rails: [rail, slowRail(open, "second")], streams: [hung, other], concurrency: 20 });
  await until(
    () => rail.underWay,
    (count) => count >= 17,
    "most places to be taken",
  );
  const { outboxId } = await stage.enqueue({ stream: other, rail: "second" });
  await stage.untilState(outboxId, "DISPATCHED");
  expect(rail.underWay).toBeLessThan(20);
  open.open();
  await stage.untilStates(
    slow.map((row) => row.outboxId),
    "DISPATCHED",
  );
});

test("a rail that allows few calls keeps no other rail of its stream from being served", async () => {
  const open = gate();
  const [mail, chat] = [slowRail(open, "mail", 2), probeRail({ name: "chat" })];
  const stream = await stage.stream();
  await stage.declare(mail, chat);
  const add = (tenant: string, rail: string, count: number): Promise<{ id: string }[]> =>
    stage.query<{ id: string }>(
      `select (outbox.add_row(false, $1, $2, $1 || $3 || n, gen_random_uuid()::text, 'x', $3, '{"slow": true}',
                              p_destination => $3 || ':' || $1)).outbox_id as id from generate_series(1, $4) n`,
      [tenant, stream, rail, count],
    );
  const tenants = Array.from({ length: 20 }, (_, n) => `office-${n}`);
  for (const tenant of tenants) await add(tenant, "mail", 10);
  await stage.run({ rails: [mail, chat], streams: [stream], concurrency: 40 });
  await until(
    () => mail.underWay,
    (count) => count === 2,
    "the mail's calls",
  );
  const talk: string[] = [];
  for (const tenant of tenants) talk.push(...(await add(tenant, "chat", 1)).map(({ id }) => id));
  await stage.untilStates(talk, "DISPATCHED");
  open.open();
});

test("tenants that use one receiver take turns at it, however much the first of them has to send", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  await stage.query("select outbox.limit_destination('provider', 20)");
  const flood = await enqueueFor(
    "flood",
    stream,
    many(200, () => ({ destination: "provider" })),
  );
  const drops = await enqueueFor(
    "drop",
    stream,
    many(3, () => ({ destination: "provider" })),
  );
  await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilStates(drops, "DISPATCHED");
  expect(await claimedOf(flood)).toBeLessThan(100);
});

test("after the machine slept nothing is sent whose lease may have run out", async () => {
  const rail = probeRail();
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  let slept = false;
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    await stage.run({
      rails: [rail],
      streams: [stream],
      // The monotonic clock stands still meanwhile, the wall clock does not.
      onStep: (step) => {
        if (step !== "claim.after" || slept) return;
        slept = true;
        vi.setSystemTime(Date.now() + 3_600_000);
      },
    });
    const lines = await stage.untilState(outboxId, "DISPATCHED");
    expect(lines.map((line) => line.error_code ?? line.state)).toEqual([
      "DISPATCHING",
      "lease_too_short",
      "DISPATCHING",
      "DISPATCHED",
    ]);
    expect(rail.sent).toHaveLength(1);
  } finally {
    vi.useRealTimers();
  }
});
