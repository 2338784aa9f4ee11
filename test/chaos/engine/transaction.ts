/**
 * One transaction of a producer, completed despite any failure of the database: repeated, with the same idempotency
 * keys, until its outcome is known. That is what idempotency keys are for, and it leaves nothing in doubt.
 */
import type { Pool, PoolClient } from "pg";
import { isRetryableConnectionError, toHeadroomError } from "../../../src/db/errors.ts";
import { enqueue, enqueueMany, type EnqueueResult } from "../../../src/outbox/enqueue/enqueue.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import type { FaultLog } from "./fault-log.ts";
import type { Findings } from "../kit/findings.ts";
import type { Intent, Ledger } from "./ledger.ts";

export interface Plan {
  readonly intents: readonly Intent[];
  readonly way: "many" | "one by one";
  readonly end: "commit" | "rollback";
  /** Stays open for this long before its end. */
  readonly heldMs: number;
}

export interface Desk {
  readonly pool: Pool;
  readonly ledger: Ledger;
  readonly findings: Findings;
  readonly faults: FaultLog;
  /** Given up permanently; open intents then stay in doubt. */
  readonly closing: AbortSignal;
}

const againAfterMs = 100;
const cutShort = "the transaction was given up";

/** A connection that breaks while it waits must not end the process. */
const ignore = (): void => undefined;

/** Resolves when the outcome of the plan is known. */
export async function carryOut(desk: Desk, plan: Plan): Promise<void> {
  for (let attempt = 1; !desk.closing.aborted; attempt += 1) {
    let committing = false;
    try {
      const results = await inTransaction(desk, plan, () => (committing = true));
      if (plan.end === "commit") note(desk, plan, results, attempt);
      else for (const intent of plan.intents) intent.state = "rolled back";
      return;
    } catch (error) {
      if (!isPassing(error)) {
        desk.findings.add("a producer's transaction is taken", `${plan.way}: ${toHeadroomError(error).message}`);
        for (const intent of plan.intents) intent.state = "in doubt";
        return;
      }
      desk.faults.count(committing ? "commits whose answer was lost" : "producer transactions cut short");
      if (plan.end === "rollback") {
        for (const intent of plan.intents) intent.state = "rolled back";
        return;
      }
      await pause(againAfterMs, desk.closing);
    }
  }
  for (const intent of plan.intents) if (intent.state === "open") intent.state = "in doubt";
}

/** The errors that a producer has to expect: a lost connection, and conflicts. */
function isPassing(error: unknown): boolean {
  if (isRetryableConnectionError(error)) return true;
  const { sqlState, message } = toHeadroomError(error);
  return sqlState === "40P01" || message === cutShort;
}

async function inTransaction(desk: Desk, plan: Plan, onCommit: () => void): Promise<EnqueueResult[]> {
  const client = await desk.pool.connect();
  client.on("error", ignore);
  let whole = false;
  try {
    await client.query("begin");
    const results = await enqueueAll(client, plan);
    if (plan.heldMs > 0) await pause(plan.heldMs, desk.closing);
    if (desk.closing.aborted) throw new Error(cutShort);
    if (plan.end === "commit") onCommit();
    await client.query(plan.end);
    whole = true;
    return results;
  } finally {
    client.off("error", ignore);
    client.release(!whole);
  }
}

async function enqueueAll(client: PoolClient, plan: Plan): Promise<EnqueueResult[]> {
  const rows = plan.intents.map(({ row }) => row);
  if (plan.way === "many") return enqueueMany(client, rows);
  const results: EnqueueResult[] = [];
  for (const row of rows) results.push(await enqueue(client, row));
  return results;
}

function note(desk: Desk, plan: Plan, results: readonly EnqueueResult[], attempt: number): void {
  const lastSeq = new Map<string, number>();
  for (const [index, intent] of plan.intents.entries()) {
    const result = results[index];
    if (result === undefined) {
      desk.findings.add("an enqueue answers for every row", `intent ${intent.n} got no answer`);
      continue;
    }
    if (attempt === 1 && !result.created) desk.findings.add("dedupe", `new intent ${intent.n} was taken for a repeat`);
    const lane = `${intent.row.stream} ${intent.row.key}`;
    if (result.seq !== null && result.seq <= (lastSeq.get(lane) ?? 0)) {
      desk.findings.add(
        "order",
        `intent ${intent.n} was numbered ${result.seq} behind ${lastSeq.get(lane)} of ${lane}`,
      );
    }
    if (result.seq !== null) lastSeq.set(lane, result.seq);
    desk.ledger.commit(intent, result.outboxId, result.seq);
  }
}
