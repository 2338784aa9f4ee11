/**
 * Drives the engine's SQL functions from tests, each as the role that may call it: ingest enqueues, the executor claims, settles and reaps,
 * control handles dead letters. The superuser moves time: it makes leases run out and rows due.
 *
 * Does not own: what is asserted, nor any logic of a relay.
 */
import type { Pool } from "pg";
import { afterEach, beforeAll } from "vitest";
import type { EmbeddedVersion } from "../../../src/db/embedded.ts";
import type { Template } from "../../helpers/clusters.ts";
import { createTestDatabase, type TestDatabase } from "../../helpers/database.ts";
import { assertInvariants } from "../../helpers/invariants.ts";
import { oneOf, rowsOf, type Queryable } from "./queries.ts";

export { oneOf, refusalOf, refusedAs, rowsOf } from "./queries.ts";

export interface StreamOptions {
  readonly ordered?: boolean;
  readonly onDead?: "block" | "skip";
  readonly money?: boolean;
  readonly resendBlind?: boolean;
  readonly maxTries?: number;
  readonly runLength?: number;
  readonly retention?: string;
  readonly dedupeDays?: number | null;
  readonly backoffBaseMs?: number;
}

export interface Stream {
  readonly id: number;
  readonly name: string;
}

export interface RowInput {
  readonly key?: string | null;
  readonly instruction?: string;
  readonly idempotencyKey?: string;
  readonly payload?: unknown;
  readonly rail?: string;
  readonly priority?: number;
  readonly notBefore?: Date;
  readonly expiresAt?: Date;
  readonly coalesceKey?: string;
  readonly destination?: string;
  readonly captures?: unknown;
  readonly binds?: unknown;
}

export interface Enqueued {
  readonly outbox_id: string;
  readonly seq: number | null;
  readonly created: boolean;
}

export interface Claimed {
  readonly claim_id: number;
  readonly lane_id: number | null;
  readonly seq: number | null;
  readonly outbox_id: string;
  readonly attempt_no: number;
  readonly tries: number;
  readonly uncertain: boolean;
  readonly key: string | null;
  readonly idempotency_key: string;
  readonly body: string;
  readonly destination_id: number | null;
  readonly destination: string | null;
  readonly sent_ago_ms: number | null;
}

export type Outcome = "delivered" | "retry" | "unknown" | "rejected" | "released";

/** How many lines of each kind a settle wrote, which rows were too late, which were given up, and which must be settled again. */
export interface Settled {
  readonly delivered: number;
  readonly retried: number;
  readonly released: number;
  readonly failed: number;
  readonly late: string[] | null;
  readonly given_up: string[] | null;
  readonly busy: string[] | null;
}

export interface Result {
  readonly row: Claimed;
  readonly outcome?: Outcome;
  readonly code?: string;
  readonly message?: string;
  readonly reference?: string;
  readonly afterMs?: number;
  readonly throttled?: boolean;
  readonly absent?: boolean;
  readonly captured?: unknown;
}

export interface OperatorResult {
  readonly outbox_id: string;
  readonly result: string;
  readonly detail: string | null;
}

export function idsOf(rows: readonly { readonly outbox_id: string }[]): string[] {
  return rows.map((row) => row.outbox_id);
}

let counter = 0;

/** A name that no other test of the run uses. */
export function unique(prefix: string): string {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}`;
}

export class Engine {
  readonly db: TestDatabase;
  relayId = 0;

  constructor(db: TestDatabase) {
    this.db = db;
  }

  get ingest(): Pool {
    return this.db.as("headroom_ingest").pool;
  }
  get executor(): Pool {
    return this.db.as("headroom_executor").pool;
  }
  get control(): Pool {
    return this.db.as("headroom_control").pool;
  }
  get superuser(): Pool {
    return this.db.superuser.pool;
  }

  async start(): Promise<void> {
    for (const [name, capability] of [
      ["sure", "idempotent"],
      ["asking", "lookup"],
      ["blind", "blind"],
    ] as const) {
      await rowsOf(this.executor, "select outbox.register_rail($1, $2, 5000)", [name, capability]);
    }
    this.relayId = (await oneOf<{ id: number }>(this.executor, "select outbox.start_relay('test') as id")).id;
  }

  async stream(options: StreamOptions = {}): Promise<Stream> {
    const name = unique("s").toLowerCase();
    const { stream_id } = await oneOf<{ stream_id: number }>(
      this.control,
      `select stream_id from outbox.create_stream(p_name => $1, p_ordered => $2, p_on_dead => $3, p_carries_money => $4,
         p_max_tries => $5, p_run_length => $6, p_retention => $7, p_dedupe_days => $8, p_backoff_base_ms => $9, p_resend_blind => $10)`,
      [
        name,
        options.ordered ?? true,
        options.onDead ?? null,
        options.money ?? null,
        options.maxTries ?? null,
        options.runLength ?? null,
        options.retention ?? null,
        options.dedupeDays ?? null,
        // Full jitter may be close to zero; below an hour it would sometimes look like no wait at all.
        options.backoffBaseMs ?? 3_600_000,
        options.resendBlind ?? null,
      ],
    );
    return { id: stream_id, name };
  }

  /** Enqueues in the client's transaction, or in a separate one. */
  async enqueue(stream: Stream, input: RowInput = {}, client: Queryable = this.ingest): Promise<Enqueued> {
    return oneOf<Enqueued>(
      client,
      `select * from outbox.enqueue(p_stream => $1, p_key => $2, p_instruction_id => $3, p_idempotency_key => $4, p_rail => $5,
         p_payload => $6, p_priority => $7, p_not_before => $8, p_expires_at => $9, p_coalesce_key => $10,
         p_destination => $11, p_captures => $12, p_binds => $13)`,
      [
        stream.name,
        input.key === undefined ? "k" : input.key,
        input.instruction ?? unique("instruction"),
        input.idempotencyKey ?? "1",
        input.rail ?? "sure",
        JSON.stringify(input.payload ?? { n: 1 }),
        input.priority ?? 5,
        input.notBefore ?? null,
        input.expiresAt ?? null,
        input.coalesceKey ?? null,
        input.destination ?? null,
        input.captures === undefined ? null : JSON.stringify(input.captures),
        input.binds === undefined ? null : JSON.stringify(input.binds),
      ],
    );
  }

  /** Several rows of one key, each in a separate transaction, in order. */
  async enqueueRow(stream: Stream, count: number, input: RowInput = {}): Promise<Enqueued[]> {
    const rows: Enqueued[] = [];
    for (let n = 0; n < count; n += 1) rows.push(await this.enqueue(stream, input));
    return rows;
  }

  async enqueueMany(
    rows: readonly unknown[],
    client: Queryable = this.ingest,
  ): Promise<(Enqueued & { ord: number })[]> {
    return rowsOf(client, "select * from outbox.enqueue_many($1)", [JSON.stringify(rows)]);
  }

  async claim(
    stream: Stream,
    options: { maxRows?: number; maxLanes?: number; sinceMs?: number } = {},
    client: Queryable = this.executor,
  ): Promise<Claimed[]> {
    return rowsOf<Claimed>(client, "select * from outbox.claim($1, $2, $3, $4, $5)", [
      this.relayId,
      stream.id,
      options.maxRows ?? 100,
      options.maxLanes ?? 100,
      options.sinceMs ?? null,
    ]);
  }

  /** Claims and expects exactly one row. */
  async claimOne(stream: Stream): Promise<Claimed> {
    const rows = await this.claim(stream);
    const [row] = rows;
    if (row === undefined || rows.length > 1) throw new Error(`Expected one claimed row, not ${rows.length}.`);
    return row;
  }

  /** Records results and returns the ids of those that were too late. */
  async settle(stream: Stream, results: readonly Result[], client: Queryable = this.executor): Promise<string[]> {
    return (await this.settleAndCount(stream, results, client)).late ?? [];
  }

  async settleAndCount(
    stream: Stream,
    results: readonly Result[],
    client: Queryable = this.executor,
  ): Promise<Settled> {
    // By name, where the relay passes them by position: neither hides a mistake of the other.
    const outcomes = results.map(({ row, outcome = "delivered", ...result }) => ({
      claim_id: row.claim_id,
      lane_id: row.lane_id,
      seq: row.seq,
      outbox_id: row.outbox_id,
      attempt_no: row.attempt_no,
      latency_ms: 3,
      kind: outcome,
      code: result.code ?? (outcome === "delivered" ? "ok" : outcome),
      reference: result.reference,
      message: result.message,
      after_ms: result.afterMs,
      throttled: result.throttled,
      absent: result.absent,
      destination_id: row.destination_id,
      captured: result.captured,
    }));
    return oneOf<Settled>(
      client,
      `select * from outbox.settle($1, array(select o from jsonb_populate_recordset(null::outbox.row_outcome, $2) o))`,
      [stream.id, JSON.stringify(outcomes)],
    );
  }

  async deliver(stream: Stream, rows: readonly Claimed[]): Promise<string[]> {
    return this.settle(
      stream,
      rows.map((row) => ({ row })),
    );
  }

  /** Claims and delivers until nothing is due; returns the ids in the order of delivery. */
  async drain(stream: Stream): Promise<string[]> {
    const delivered: string[] = [];
    for (let round = 0; round < 200; round += 1) {
      const rows = await this.claim(stream);
      // A claim that only moved a lane to another queue returns nothing.
      if (rows.length === 0 && !(await this.isDue(stream))) return delivered;
      await this.deliver(stream, rows);
      delivered.push(...rows.map((row) => row.outbox_id));
    }
    throw new Error("The stream never runs dry.");
  }

  async isDue(stream: Stream): Promise<boolean> {
    const [next] = await rowsOf<{ wait_ms: number }>(
      this.executor,
      "select wait_ms from outbox.next_due(array[$1::smallint])",
      [stream.id],
    );
    return next?.wait_ms === 0;
  }

  async reap(client: Queryable = this.executor): Promise<number> {
    return (await oneOf<{ n: number }>(client, "select outbox.reap() as n")).n;
  }

  /** Makes a stream's leases run out, except those that are being settled at this moment. */
  async expireLeases(stream: Stream): Promise<void> {
    await rowsOf(
      this.superuser,
      `update outbox.claims set lease_until = now() - interval '1 s'
        where claim_id in (select claim_id from outbox.claims where stream_id = $1 for update skip locked)`,
      [stream.id],
    );
  }

  /** Ends every wait of a stream: backoff, slots and dates. Rows that others work on at this moment are left alone. */
  async makeDue(stream: Stream): Promise<void> {
    await rowsOf(
      this.superuser,
      `update outbox.heads set due = now()
        where lane_id in (select lane_id from outbox.heads where stream_id = $1 for update skip locked)`,
      [stream.id],
    );
    await rowsOf(
      this.superuser,
      `update outbox.pending_unordered set due = now()
        where outbox_id in (select outbox_id from outbox.pending_unordered where stream_id = $1 for update skip locked)`,
      [stream.id],
    );
    await rowsOf(
      this.superuser,
      `update outbox.pending set due = now()
        where (lane_id, seq) in (select p.lane_id, p.seq from outbox.pending p join outbox.lanes l on l.lane_id = p.lane_id
                                  where l.stream_id = $1 and p.due > now() for update of p skip locked)`,
      [stream.id],
    );
  }

  /** Makes the first row of a stream dead, by a rejection. */
  async kill(stream: Stream, outcome: "rejected" | "unknown" = "rejected"): Promise<Claimed> {
    const rows = await this.claim(stream, { maxLanes: 1 });
    const [first, ...tail] = rows;
    if (first === undefined) throw new Error("There is nothing to kill.");
    await this.settle(stream, [
      { row: first, outcome, code: "no" },
      ...tail.map((row) => ({ row, outcome: "released" as const })),
    ]);
    return first;
  }

  async redrive(
    ids: readonly string[],
    options: { outOfOrder?: boolean } = {},
    client: Queryable = this.control,
  ): Promise<OperatorResult[]> {
    return rowsOf(client, "select * from outbox.redrive($1, 'ann', 'fixed', $2)", [ids, options.outOfOrder ?? false]);
  }

  async skip(ids: readonly string[], client: Queryable = this.control): Promise<OperatorResult[]> {
    return rowsOf(client, "select * from outbox.skip($1, 'ann', 'not wanted')", [ids]);
  }

  async resolve(id: string, delivered: boolean, reference: string | null = null): Promise<OperatorResult> {
    return oneOf(this.control, "select * from outbox.resolve_dead($1, $2, 'ann', 'asked the bank', $3)", [
      id,
      delivered,
      reference,
    ]);
  }

  /** The states of a row's lines, in order. */
  async states(id: string): Promise<string[]> {
    const lines = await rowsOf<{ state: string }>(
      this.control,
      "select state from outbox.attempts where outbox_id = $1 order by attempt_no",
      [id],
    );
    return lines.map((line) => line.state);
  }

  async inspect(id: string): Promise<Record<string, unknown>> {
    return (await oneOf<{ row: Record<string, unknown> }>(this.control, "select outbox.inspect($1) as row", [id])).row;
  }

  async place(id: string): Promise<unknown> {
    return (await this.inspect(id))["place"];
  }

  async assertInvariants(): Promise<void> {
    const client = await this.superuser.connect();
    try {
      await assertInvariants(client);
    } finally {
      client.release();
    }
  }
}

/** A database with rails and a relay, whose invariants are checked after each test of the describe. */
export async function startEngine(version: EmbeddedVersion, template: Template = "small"): Promise<Engine> {
  const engine = new Engine(await createTestDatabase({ version, template }));
  beforeAll(() => engine.start());
  afterEach(() => engine.assertInvariants());
  return engine;
}
