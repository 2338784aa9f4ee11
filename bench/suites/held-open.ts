/**
 * A forgotten open transaction keeps vacuum from removing anything. Rows come in and go out at a steady
 * rate; how long do the relay's claims and settles take before it, and after it has been open for a while?
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openHeadroom } from "../contenders/headroom.ts";
import type { Contender } from "../contenders/contender.ts";
import { nowMs, percentile, round } from "../measure.ts";
import { timeStatements, type TimedStatement } from "../statement-timer.ts";
import type { Suite } from "./suite.ts";

const TICK_MS = 50;
const WARM_UP_SECONDS = 5;
const WINDOW_SECONDS = 10;
const CLAIM = "outbox.claim(";
const SETTLE = "outbox.settle(";

export const heldOpenSuite: Suite = async ({ url, params, emit, log }) => {
  const order = params.text("order") === "ordered" ? "ordered" : "unordered";
  const rowsPerSecond = params.number("rowsPerSecond");
  const headroom = await openHeadroom({ url, keys: params.number("keys") });
  const statements: TimedStatement[] = [];
  const timer = timeStatements([CLAIM, SETTLE], (statement) => statements.push(statement));
  const worker = await headroom.run(order);
  const producer = startProducer(headroom, order, (rowsPerSecond * TICK_MS) / 1_000);

  await sleep((WARM_UP_SECONDS + WINDOW_SECONDS) * 1_000);
  const start = summarise(statements, nowMs() - WINDOW_SECONDS * 1_000, nowMs());
  const holder = await holdTransactionOpen(url);
  log("transaction opened");
  await sleep(params.number("seconds") * 1_000);
  const end = summarise(statements, nowMs() - WINDOW_SECONDS * 1_000, nowMs());
  const produced = await producer.stop();
  await holder.query("commit");
  await holder.end();
  await worker.stop();
  timer.stop();

  for (const [when, { p50Ms, claimMs, settleMs, emptyClaimMs }] of [["start", start] as const, ["end", end] as const]) {
    emit({
      measure: `held-open/${order}-${when}`,
      who: "headroom",
      variant: `${rowsPerSecond} rows/s, p50 of claim + p50 of settle`,
      value: round(p50Ms, 3),
      unit: "ms",
      details: { claimMs, settleMs, emptyClaimMs, produced, delivered: worker.delivered() },
    });
  }
  await headroom.close();
};

/** Zero if there was none. */
const p50 = (chosen: readonly TimedStatement[]): number =>
  chosen.length === 0
    ? 0
    : round(
        percentile(
          chosen.map(({ tookMs }) => tookMs),
          50,
        ),
        3,
      );

function summarise(statements: readonly TimedStatement[], fromMs: number, toMs: number) {
  const inWindow = statements.filter(({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < toMs);
  const claimMs = p50(inWindow.filter(({ name, rows }) => name === CLAIM && rows > 0));
  const settleMs = p50(inWindow.filter(({ name }) => name === SETTLE));
  const emptyClaimMs = p50(inWindow.filter(({ name, rows }) => name === CLAIM && rows === 0));
  if (claimMs === 0 || settleMs === 0) throw new Error("the relay neither claimed nor settled in the window");
  return { p50Ms: claimMs + settleMs, claimMs, settleMs, emptyClaimMs };
}

/** An open snapshot with a transaction id, as a forgotten session has it. */
async function holdTransactionOpen(url: string): Promise<Client> {
  const client = new Client(url);
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select pg_current_xact_id(), count(*) from outbox.streams");
  return client;
}

/** Enqueues at a steady rate, catching up when a tick came late; `stop` returns how many rows were enqueued. */
function startProducer(headroom: Contender, order: "ordered" | "unordered", rowsPerTick: number) {
  const stopping = new AbortController();
  let produced = 0;
  const loop = async (): Promise<void> => {
    const startedAtMs = nowMs();
    for (let tick = 1; !stopping.signal.aborted; tick += 1) {
      await headroom.fillQueue({
        rows: rowsPerTick,
        from: produced,
        layout: order === "ordered" ? "round-robin" : "none",
        skipVacuum: true,
      });
      produced += rowsPerTick;
      const waitMs = startedAtMs + tick * TICK_MS - nowMs();
      if (waitMs > 0) await sleep(waitMs);
    }
  };
  const finished = loop();
  return {
    async stop(): Promise<number> {
      stopping.abort();
      await finished;
      return produced;
    },
  };
}
