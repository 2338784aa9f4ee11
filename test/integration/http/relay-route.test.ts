/** POST /api/internal/outbox-relay: delivers what is due, within limits, alongside any number of others that do the same. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createDrainer, type DrainerOptions, type DrainReport } from "../../../src/outbox/relay/drain.ts";
import { createRelay } from "../../../src/outbox/relay/relay.ts";
import type { Rail } from "../../../src/contract/rail.ts";
import { createPublishing, envelope } from "../webhooks/harness.ts";
import { until } from "../outbox/relay/stage.ts";
import { startTestGateway, type TestGateway } from "./harness.ts";

const secret = "the-relay-secret-of-all-the-tests";

type RouteReport = Omit<DrainReport, "nextInMs"> & { readonly next_in_ms: number | null };

async function wake(gateway: TestGateway, init: RequestInit = {}): Promise<RouteReport> {
  const response = await fetch(`${gateway.url}/api/internal/outbox-relay`, {
    method: "POST",
    headers: { "x-outbox-secret": secret },
    ...init,
  });
  expect([response.status, gateway.log.at(-1)?.message]).toEqual([200, undefined]);
  return (await response.json()) as RouteReport;
}

describe("the relay by route", async () => {
  const events = await createPublishing();
  const { db } = events;
  const executor = db.as("headroom_executor").url;

  /** A server whose relay has these rails; both end with the test. */
  async function serve(
    rails: readonly Rail[],
    options: Partial<DrainerOptions> & { budgetMs?: number } = {},
  ): Promise<TestGateway> {
    const { budgetMs, ...rest } = options;
    const drainer = createDrainer({ connectionString: executor, rails, streams: ["@built-in"], ...rest });
    const gateway = await startTestGateway(db, { dependencies: { drainer, relayBudgetMs: budgetMs } });
    onTestFinished(async () => {
      await gateway.stop();
      await drainer.close();
    });
    return gateway;
  }

  test("delivers what is due and says how much; the body is only a wake-up", async () => {
    const { receiver } = await events.endpoint("plain");
    const gateway = await serve([events.rail()]);
    const sent = await events.publish("transfers", envelope(), envelope({ subject: "account-2" }), envelope());
    const webhook = {
      type: "INSERT",
      table: "outbox_transfers",
      schema: "payments",
      record: { id: sent[0]!.id },
      old_record: null,
    };
    const headers = { "x-outbox-secret": secret, "content-type": "application/json" };
    expect(await wake(gateway, { body: JSON.stringify(webhook), headers })).toEqual({
      claimed: 3,
      delivered: 3,
      retried: 0,
      failed: 0,
      released: 0,
      more: false,
      next_in_ms: null,
      busy: false,
    });
    expect(receiver.book.requests.map(({ signature }) => signature)).toEqual(["valid", "valid", "valid"]);
    expect((await events.fates("transfers")).map(({ status }) => status)).toEqual(["SENT", "SENT", "SENT"]);
    for (const body of [null, "not json {", "\u0000\u0001", JSON.stringify({ more: "than was asked" })]) {
      expect(await wake(gateway, { body })).toMatchObject({ claimed: 0, more: false });
    }
    expect(receiver.book.requests).toHaveLength(3);
    // Only the last turn is kept, and it has ended.
    expect(
      await events.query("select on_demand, wants_notify, ended_at is not null as ended from outbox.relays"),
    ).toEqual([{ on_demand: true, wants_notify: false, ended: true }]);
  });

  test("refuses what is not a wake-up, and then delivers nothing", async () => {
    const { receiver } = await events.endpoint("guarded");
    const gateway = await serve([events.rail()]);
    const [event] = await events.publish("transfers", envelope());
    const ask = (init: RequestInit): Promise<Response> =>
      fetch(`${gateway.url}/api/internal/outbox-relay`, { method: "POST", ...init });
    for (const headers of [
      {},
      { "x-outbox-secret": "" },
      { "x-outbox-secret": `${secret}x` },
      { authorization: `Bearer ${secret}` },
    ]) {
      const response = await ask({ headers });
      expect([response.status, response.headers.get("content-type")]).toEqual([401, "application/problem+json"]);
    }
    expect((await ask({ method: "GET", headers: { "x-outbox-secret": secret } })).status).toBe(405);
    expect((await ask({ headers: { "x-outbox-secret": secret }, body: "x".repeat(1024 * 1024 + 1) })).status).toBe(413);
    expect(receiver.book.requests).toEqual([]);
    expect(await events.fate("transfers", event!.id)).toMatchObject({ status: "PENDING" });
    expect(await wake(gateway)).toMatchObject({ delivered: 1 });
  });

  test("without rails it says that it delivers nothing", async () => {
    const gateway = await startTestGateway(db);
    onTestFinished(() => gateway.stop());
    const response = await fetch(`${gateway.url}/api/internal/outbox-relay`, {
      method: "POST",
      headers: { "x-outbox-secret": secret },
    });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: "not_configured" });
  });

  test("counts rows to be tried again and rows that were given up", async () => {
    const { receiver } = await events.endpoint("moody");
    const gateway = await serve([events.rail()]);
    receiver.script.push(
      { kind: "status", status: 500, headers: { "retry-after": "3600" } },
      { kind: "status", status: 400 },
    );
    const sent = await events.publish("transfers", envelope({ subject: "a" }), envelope({ subject: "b" }));
    // The next try is more than a minute away: a call every minute is early enough for it.
    const report = await wake(gateway);
    expect(report).toMatchObject({ claimed: 2, delivered: 0, retried: 1, failed: 1, more: false });
    expect(report.next_in_ms).toBeGreaterThan(60_000);
    await events.hurry();
    expect(await wake(gateway)).toMatchObject({ claimed: 1, delivered: 1 });
    const fates = await events.fates(
      "transfers",
      sent.map(({ id }) => id),
    );
    expect(fates.map(({ status, retry_count }) => `${status} ${retry_count}`).toSorted()).toEqual([
      "FAILED 1",
      "SENT 2",
    ]);
  });

  /** An endpoint that takes one request per so many milliseconds, as a Slack channel takes one per second. */
  async function limited(name: string, intervalMs: number, topics = ["*"]) {
    const made = await events.endpoint(name, { topics });
    await events.query("select outbox.limit_destination($1, $2)", [`endpoint:${made.id}`, intervalMs]);
    return made;
  }

  const skipTheRest = (): Promise<unknown> =>
    events.query("select outbox.skip(array(select outbox_id from outbox.pending), 'a test', 'its slot is far away')");

  test("waits for slots and further tries that are due within its time", async () => {
    const { receiver } = await limited("one-at-a-time", 40);
    const gateway = await serve([events.rail()], { budgetMs: 30_000 });
    receiver.script.push({ kind: "status", status: 503, headers: { "retry-after": "1" } });
    await events.publish("transfers", ...Array.from({ length: 30 }, (_, n) => envelope({ subject: `slot-${n}` })));
    expect(await wake(gateway)).toMatchObject({ delivered: 30, retried: 1, more: false, next_in_ms: null });
    expect(receiver.book.effects).toHaveLength(30);
  });

  test("says when the next slot opens when it is beyond its time", async () => {
    const intervalMs = 50_000;
    const { receiver } = await limited("slow", intervalMs);
    const gateway = await serve([events.rail()], { budgetMs: 20_000 });
    await events.publish("transfers", envelope({ subject: "now" }), envelope({ subject: "later" }));
    const first = await wake(gateway);
    expect(first).toMatchObject({ delivered: 1, more: true });
    expect(first.next_in_ms).toBeGreaterThan(0);
    expect(first.next_in_ms).toBeLessThanOrEqual(intervalMs);
    // What a scheduler checks before it calls (docs/operating, Relaying without a process of its own).
    const due = await events.query(
      `select from outbox.next_due(array(select stream_id from outbox.streams)) where wait_ms <= ${intervalMs}`,
    );
    expect(due).toHaveLength(1);
    expect(receiver.book.effects).toHaveLength(1);
    await skipTheRest();
  });

  test("a call that comes while a turn waits for a slot has it check immediately", async () => {
    const slow = await limited("hours-apart", 3_600_000, ["slow"]);
    const quick = await events.endpoint("at-once", { topics: ["quick"] });
    const over = new AbortController();
    const drainer = createDrainer({ connectionString: executor, rails: [events.rail()], streams: ["@built-in"] });
    onTestFinished(() => drainer.close());
    await events.publish(
      "transfers",
      envelope({ subject: "a", type: "slow" }),
      envelope({ subject: "b", type: "slow" }),
    );
    const turn = drainer.drain({ budgetMs: 7_200_000, signal: over.signal });
    await until(
      () => slow.receiver.book.requests.length,
      (count) => count === 1,
      "the first request",
    );
    await until(
      () => events.query("select from outbox.claims"),
      (claims) => claims.length === 0,
      "its settle",
    );
    await events.publish("ledger", envelope({ subject: "c", type: "quick" }));
    expect(await drainer.drain()).toMatchObject({ busy: true, more: true });
    await until(
      () => quick.receiver.book.requests.length,
      (count) => count === 1,
      "the row that came meanwhile",
    );
    over.abort();
    expect(await turn).toMatchObject({ delivered: 2, more: false });
    await events.query(
      "select outbox.skip(array(select outbox_id from outbox.pending), 'a test', 'its slot is far away')",
    );
  });

  test("ends when it must, hands back what it did not send, and says that there is more", async () => {
    const { receiver } = await events.endpoint("slow");
    receiver.script.push({ kind: "late" });
    const timeIsUp = new AbortController();
    const drainer = createDrainer({
      connectionString: executor,
      rails: [events.rail({ concurrency: 1 })],
      streams: ["@built-in"],
    });
    onTestFinished(() => drainer.close());
    const gateway = await startTestGateway(db, {
      dependencies: { drainer: { drain: (options) => drainer.drain({ ...options, signal: timeIsUp.signal }) } },
    });
    onTestFinished(() => gateway.stop());
    const sent = Array.from({ length: 5 }, (_, index) => envelope({ subject: `s-${index}` }));
    await events.publish("transfers", ...sent);
    const first = wake(gateway);
    await until(
      () => receiver.book.requests.length,
      (count) => count === 1,
      "the first request",
    );
    // A second call of the same process does not wait for the first.
    expect(await wake(gateway)).toMatchObject({ claimed: 0, busy: true, more: true });
    timeIsUp.abort();
    receiver.release();
    expect(await first).toMatchObject({ claimed: 5, delivered: 1, released: 4, more: true });

    // No time at all: nothing is claimed. Few rows: no more claims than they need.
    expect(await drainer.drain({ budgetMs: 0 })).toMatchObject({ claimed: 0, more: true });
    expect(await drainer.drain({ maxRows: 1 })).toMatchObject({ claimed: 1, delivered: 1, more: true });
    expect(await drainer.drain()).toMatchObject({ claimed: 3, delivered: 3, more: false });
    expect(receiver.book.requests).toHaveLength(5);
  });

  test("continues when the caller hangs up, as database webhooks do after a second", async () => {
    const { receiver } = await events.endpoint("patient");
    receiver.script.push({ kind: "late" });
    const gateway = await serve([events.rail({ concurrency: 1 })]);
    const sent = await events.publish(
      "transfers",
      ...["a", "b", "c"].map((subject) => envelope({ subject: `left-${subject}` })),
    );
    const patience = new AbortController();
    const left = wake(gateway, { signal: patience.signal });
    await until(
      () => receiver.book.requests.length,
      (count) => count === 1,
      "the first request",
    );
    patience.abort();
    await expect(left).rejects.toThrow("abort");
    // The server notices before the receiver answers: a whole exchange with it lies in between.
    await fetch(`${gateway.url}/healthz`);
    receiver.release();
    const fates = await until(
      () =>
        events.fates(
          "transfers",
          sent.map(({ id }) => id),
        ),
      (rows) => rows.every(({ status }) => status === "SENT"),
      "the whole turn",
    );
    expect(fates).toHaveLength(3);
  });

  test("a call that comes during a turn makes it check again", async () => {
    const { receiver } = await events.endpoint("late-row");
    receiver.script.push({ kind: "late" });
    const gateway = await serve([events.rail()]);
    await events.publish("transfers", envelope({ subject: "first" }));
    const first = wake(gateway);
    await until(
      () => receiver.book.requests.length,
      (count) => count === 1,
      "the first request",
    );
    await events.publish("ledger", envelope({ subject: "second" }));
    expect(await wake(gateway)).toMatchObject({ busy: true });
    receiver.release();
    expect(await first).toMatchObject({ claimed: 2, delivered: 2, more: false, busy: false });
  });

  test("the worker and two servers' routes at the same time deliver each row once, in order", async () => {
    const [one, two] = [await events.endpoint("one"), await events.endpoint("two")];
    const worker = createRelay({
      connectionString: executor,
      rails: [events.rail()],
      streams: ["transfers", "ledger"],
    });
    const gateways = [await serve([events.rail()]), await serve([events.rail()])];
    onTestFinished(() => worker.stop());
    const subjects = 20;
    const rounds = 10;
    const reports: RouteReport[] = [];
    const producing = (async () => {
      for (let round = 0; round < rounds; round += 1) {
        const batch = Array.from({ length: subjects }, (_, index) =>
          envelope({ subject: `subject-${index}`, data: { round } }),
        );
        await events.publish(round % 2 === 0 ? "transfers" : "ledger", ...batch);
        reports.push(...(await Promise.all([...gateways, ...gateways].map((gateway) => wake(gateway)))));
      }
    })();
    await worker.start();
    await producing;
    const total = subjects * rounds * 2;
    await until(
      () => one.receiver.book.requests.length + two.receiver.book.requests.length,
      (count) => count >= total,
      "all deliveries",
    );
    await until(
      async () => (await events.query<{ n: number }>("select count(*)::int as n from outbox.pending"))[0]!.n,
      (n) => n === 0,
      "all settles",
    );
    await worker.stop();
    for (const { receiver } of [one, two]) {
      const { requests } = receiver.book;
      expect(requests).toHaveLength(total / 2);
      expect(new Set(requests.map(({ webhookId }) => webhookId)).size).toBe(total / 2);
      expect(requests.filter(({ signature }) => signature !== "valid")).toEqual([]);
      for (let index = 0; index < subjects; index += 1) {
        const rows = requests
          .map(({ body }) => JSON.parse(body ?? "null") as { subject: string; data: { round: number } })
          .filter(({ subject }) => subject === `subject-${index}`)
          .map(({ data }) => data.round);
        // Two streams, each in its own order.
        for (const parity of [0, 1]) {
          const ofStream = rows.filter((round) => round % 2 === parity);
          expect(ofStream).toEqual(ofStream.toSorted((left, right) => left - right));
        }
      }
    }
    const byRoute = reports.reduce((sum, report) => sum + report.delivered, 0);
    expect(byRoute + worker.counters.attempts("DISPATCHED")).toBe(total);
    const [lines] = await events.query<{ n: number }>(
      "select count(*)::int as n from outbox.attempts a join outbox.payloads m using (outbox_id) join outbox.destinations d using (destination_id) where a.state = 'DISPATCHED' and d.name = any ($1)",
      [[`endpoint:${one.id}`, `endpoint:${two.id}`]],
    );
    expect(lines).toEqual({ n: total });
  });

  test.each([
    ["claim.after", 0],
    ["send.before", 0],
    ["send.after", 1],
    ["settle.before", 1],
    ["settle.after", 1],
  ] as const)("a server killed at %s loses nothing, and what it may have sent is marked", async (step, sentBefore) => {
    const { receiver } = await events.endpoint("survivor");
    const gateway = await serve([events.rail()]);
    const [event] = await events.publish("ledger", envelope({ subject: step }));
    const child = spawn(
      process.execPath,
      ["--conditions=source", fileURLToPath(new URL("relay-child.ts", import.meta.url)), executor, step],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    const [, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    expect(signal).toBe("SIGKILL");
    expect(receiver.book.requests).toHaveLength(sentBefore);
    const settled = step === "settle.after";
    expect(await wake(gateway)).toMatchObject({ claimed: 0 });
    await events.expireLeases();
    expect(await wake(gateway)).toMatchObject({ claimed: settled ? 0 : 1, delivered: settled ? 0 : 1 });
    expect(await events.fate("ledger", event!.id)).toMatchObject({ status: "SENT" });
    // Raw requests beyond the first are explained by a mark in the archive; the receiver, which deduplicates, saw one effect.
    const requests = settled ? 1 : sentBefore + 1;
    expect(receiver.book.requests).toHaveLength(requests);
    expect(receiver.book.effects).toHaveLength(1);
    const marks = await events.query<{ state: string }>(
      "select a.state from outbox.attempts a join outbox.payloads m using (outbox_id) where m.payload ->> 'subject' = $1 and a.uncertain and a.state = 'ZOMBIE_REQUEUE'",
      [step],
    );
    expect(marks).toHaveLength(settled ? 0 : 1);
  });
});
