/**
 * A producer's mistakes and repeats: the same row again, the same row twice at the same time, the same key with other
 * content. Each must result in exactly one row.
 */
import { toHeadroomError } from "../../../src/db/errors.ts";
import { enqueue, type EnqueueResult } from "../../../src/outbox/enqueue/enqueue.ts";
import type { Desk } from "./transaction.ts";
import type { Intent } from "./ledger.ts";
import type { Random } from "../kit/random.ts";

/** A committed row, enqueued again: the answer is the existing row. */
export async function repeat(desk: Desk, random: Random): Promise<void> {
  if (desk.ledger.committed.length === 0) return;
  const intent = random.pick(desk.ledger.committed);
  const result = await attempt(desk, () => enqueue(desk.pool, intent.row));
  if (result !== undefined) expectSame(desk, intent, result);
}

/** The same key with another payload is refused. */
export async function otherPayload(desk: Desk, random: Random): Promise<void> {
  if (desk.ledger.committed.length === 0) return;
  const intent = random.pick(desk.ledger.committed);
  try {
    const result = await enqueue(desk.pool, { ...intent.row, payload: { n: intent.n, other: true } });
    desk.findings.add("dedupe", `intent ${intent.n} was taken with another payload as ${result.outboxId}`);
  } catch (error) {
    if (toHeadroomError(error).code !== "idempotency_conflict") desk.faults.count("producer transactions cut short");
    else desk.faults.count("other payloads refused");
  }
}

/** Two concurrent transactions with one row; the first may roll back, and then the second creates it. */
export async function twins(desk: Desk, random: Random, intent: Intent): Promise<void> {
  const firstEnds = random.chance(0.5) ? "commit" : "rollback";
  const first = attempt(desk, async () => {
    const client = await desk.pool.connect();
    client.on("error", () => undefined);
    let whole = false;
    try {
      await client.query("begin");
      const result = await enqueue(client, intent.row);
      await client.query(firstEnds);
      whole = true;
      return result;
    } finally {
      client.release(!whole);
    }
  });
  // Together with the first, so that one of them waits for the other's insert.
  const second = attempt(desk, () => enqueue(desk.pool, intent.row));
  const [one, other] = await Promise.all([first, second]);
  if (one === undefined || other === undefined) {
    // At least one of them lost the database; asking again returns the stored row.
    await carryOutAgain(desk, intent);
    return;
  }
  if (firstEnds === "commit" && one.outboxId !== other.outboxId) {
    desk.findings.add("dedupe", `twins of intent ${intent.n} became ${one.outboxId} and ${other.outboxId}`);
  }
  if (firstEnds === "commit" && one.created && other.created) {
    desk.findings.add("dedupe", `both twins of intent ${intent.n} say that they made the row`);
  }
  desk.ledger.commit(intent, other.outboxId, other.seq);
}

async function carryOutAgain(desk: Desk, intent: Intent): Promise<void> {
  // As a second try, for which an existing row is not an error.
  for (;;) {
    const result = await attempt(desk, () => enqueue(desk.pool, intent.row));
    if (result !== undefined) return desk.ledger.commit(intent, result.outboxId, result.seq);
    if (desk.closing.aborted) {
      intent.state = "in doubt";
      return;
    }
    await new Promise((fulfil) => setTimeout(fulfil, 100));
  }
}

function expectSame(desk: Desk, intent: Intent, result: EnqueueResult): void {
  desk.faults.count("repeated enqueues");
  if (result.created) desk.findings.add("dedupe", `a repeat of intent ${intent.n} made a second row`);
  if (result.outboxId !== intent.outboxId) {
    desk.findings.add("dedupe", `a repeat of intent ${intent.n} is ${result.outboxId}, not ${intent.outboxId}`);
  }
}

/** Undefined when the database could not be asked. */
async function attempt<T>(desk: Desk, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch {
    desk.faults.count("producer transactions cut short");
    return undefined;
  }
}
