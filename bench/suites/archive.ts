/**
 * Claim, settle and reap, each measured separately, on an archive of a given size. Several passes per order after one that
 * is not counted; the median pass is reported.
 */
import { readFile } from "node:fs/promises";
import { Client } from "pg";
import { openHeadroomQueue, STREAMS, type HeadroomQueue } from "../contenders/headroom-queue.ts";
import { openSteps, type Steps } from "../contenders/headroom-sql.ts";
import { median, round } from "../measure.ts";
import type { Suite } from "./suite.ts";

const FILL_SQL = new URL("../sql/fill-archive.sql", import.meta.url);
const LINES_PER_ROW = 2;
const FILL_ROWS = 250_000;
const PASSES = 5;
const ROWS = 10_000;
const MAX_CALLS = 1_000;

type Step = "claim" | "settle" | "reap";

export const archiveSuite: Suite = async ({ url, params, emit, log }) => {
  const queue = await openHeadroomQueue(url, params.number("keys"));
  await fillArchive(queue, params.number("archiveLines"), log);
  const client = new Client(url);
  await client.connect();
  for (const order of ["unordered", "ordered"] as const) {
    const steps = await openSteps(client, STREAMS[order]);
    const rates: Record<Step, number[]> = { claim: [], settle: [], reap: [] };
    for (let pass = 0; pass <= PASSES; pass += 1) {
      const found = await runPass(steps, async () => {
        await queue.reset();
        await queue.fillQueue({ rows: ROWS, layout: order === "ordered" ? "bursts" : "none" });
      });
      if (pass === 0) continue;
      for (const step of ["claim", "settle", "reap"] as const) rates[step].push(found[step]);
    }
    for (const step of ["claim", "settle", "reap"] as const) {
      emit({
        measure: `archive/${params.text("kind")}-${order}-${step}`,
        who: "headroom",
        variant: `${params.number("archiveLines")} lines before`,
        value: round(median(rates[step])),
        unit: "rows/s",
        details: { passes: rates[step].map((rate) => round(rate)).join(" ") },
      });
    }
  }
  await client.end();
  await queue.close();
};

async function fillArchive(queue: HeadroomQueue, lines: number, log: (message: string) => void): Promise<void> {
  const sql = await readFile(FILL_SQL, "utf8");
  const rows = lines / LINES_PER_ROW;
  for (let first = 0; first < rows; first += FILL_ROWS) {
    await queue.pool.query(sql, [first, Math.min(rows, first + FILL_ROWS) - 1, rows, STREAMS.unordered]);
    if (first % 1_000_000 === 0) log(`${first * LINES_PER_ROW} lines`);
  }
  await queue.pool.query("vacuum analyze outbox.attempts");
  await queue.pool.query("checkpoint");
}

const rate = (rows: number, ms: number): number => (rows * 1_000) / ms;

/** Claims and settles a queue batch by batch, then claims another whole and reaps it; only the named steps are timed. */
async function runPass(steps: Steps, fill: () => Promise<void>): Promise<Record<Step, number>> {
  await fill();
  const drained = await drain(steps);
  await fill();
  // A lane yields at most one run, so on an ordered stream this is not everything.
  let claimedRows = 0;
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const batch = await steps.claim();
    if (batch.rows.length === 0) break;
    claimedRows += batch.rows.length;
  }
  await steps.expireLeases();
  let reapedRows = 0;
  let reapMs = 0;
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const reaped = await steps.reap();
    if (reaped.rows === 0) break;
    reapedRows += reaped.rows;
    reapMs += reaped.tookMs;
  }
  // Reaped lanes return in runs of one, so this drain clears the table and is not counted.
  const cleared = await drain(steps);
  if (drained.rows !== ROWS || reapedRows !== claimedRows || cleared.rows !== ROWS) {
    throw new Error(
      `of ${ROWS} rows ${drained.rows} were settled, ${reapedRows} of ${claimedRows} reaped and ${cleared.rows} settled again`,
    );
  }
  return {
    claim: rate(ROWS, drained.claimMs),
    settle: rate(ROWS, drained.settleMs),
    reap: rate(reapedRows, reapMs),
  };
}

async function drain(steps: Steps): Promise<{ rows: number; claimMs: number; settleMs: number }> {
  const sum = { rows: 0, claimMs: 0, settleMs: 0 };
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const batch = await steps.claim();
    if (batch.rows.length === 0) break;
    sum.rows += batch.rows.length;
    sum.claimMs += batch.tookMs;
    sum.settleMs += await steps.settle(batch);
  }
  return sum;
}
