/**
 * Headroom's queue from the producer's side: a migrated database with the benchmark's streams, filled and emptied in bulk.
 * Also used alone by the suites that call claim and settle themselves.
 */
import { Client, type Pool } from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { createPool } from "../database.ts";
import { BURST, bodySql, keySql } from "../workload.ts";
import type { FillOptions } from "./contender.ts";
import { RAIL, RAIL_TIMEOUT_MS } from "./noop-rail.ts";

export { RAIL, RAIL_TIMEOUT_MS } from "./noop-rail.ts";

export const STREAMS = {
  unordered: "bench",
  ordered: "bench-ordered",
  /** A dead row blocks its lane. */
  blocking: "bench-blocking",
  /** Short backoff, so that a run with retries ends in seconds. */
  retrying: "bench-retrying",
} as const;
export type StreamName = (typeof STREAMS)[keyof typeof STREAMS];

/** As many as enqueue_many takes in one call. */
const FILL_STEP = 10_000;

const HOT_TABLES = ["pending", "pending_unordered", "heads", "lanes", "claims", "payloads", "dedupe", "dead"].map(
  (name) => `outbox.${name}`,
);

export interface BulkFill {
  readonly stream: StreamName;
  readonly from: number;
  readonly rows: number;
  /** SQL over `g`, the row's index. */
  readonly key: string;
  readonly body: string;
  readonly notBefore?: string;
}

export interface HeadroomQueue {
  readonly pool: Pool;
  fillQueue(options: FillOptions & { readonly stream?: StreamName }): Promise<void>;
  fillBulk(options: BulkFill): Promise<void>;
  /** True when nothing waits and nothing is in flight. */
  readonly isEmpty: () => Promise<boolean>;
  /** The name of a row's instruction, fresh after each reset although indices start over. */
  instruction(index: number): string;
  /** Starts over with an empty queue; the previous one must be drained. */
  readonly reset: () => Promise<void>;
  vacuum(): Promise<void>;
  close(): Promise<void>;
}

async function prepareDatabase(url: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await migrate(client);
    await client.query("select outbox.register_rail($1, 'idempotent', $2)", [RAIL, RAIL_TIMEOUT_MS]);
    await client.query("select outbox.create_stream($1, false)", [STREAMS.unordered]);
    await client.query("select outbox.create_stream($1, true)", [STREAMS.ordered]);
    await client.query("select outbox.create_stream($1, true, p_on_dead => 'block')", [STREAMS.blocking]);
    await client.query(
      "select outbox.create_stream($1, true, p_max_tries => 50, p_backoff_base_ms => 20, p_backoff_cap_ms => 200)",
      [STREAMS.retrying],
    );
  } finally {
    await client.end();
  }
}

export async function openHeadroomQueue(url: string, keys: number): Promise<HeadroomQueue> {
  await prepareDatabase(url);
  const pool = createPool(url, 12);
  let fills = 1;

  async function fillBulk({ stream, from, rows, key, body, notBefore }: BulkFill, step = FILL_STEP): Promise<void> {
    for (let done = 0; done < rows; done += step) {
      const last = from + Math.min(rows, done + step) - 1;
      await pool.query(
        `select count(*) from outbox.enqueue_many((
           select jsonb_agg(jsonb_build_object('stream', '${stream}', 'key', ${key}, 'rail', '${RAIL}',
             'instruction_id', '${fills}-' || g, 'idempotency_key', '${fills}-' || g, 'payload', ${body}
             ${notBefore === undefined ? "" : `, 'not_before', ${notBefore}`}) order by g)
           from generate_series(${from + done}, ${last}) g))`,
      );
    }
  }

  const isEmpty = async (): Promise<boolean> => {
    const { rows } = await pool.query<{ some: boolean }>(
      `select exists (select from outbox.claims) or exists (select from outbox.pending)
           or exists (select from outbox.pending_unordered) as some`,
    );
    return rows[0]?.some === false;
  };

  const vacuum = async (): Promise<void> => {
    await pool.query(`vacuum analyze ${HOT_TABLES.join(", ")}`);
  };

  return {
    pool,
    fillBulk,
    vacuum,
    async fillQueue({ rows, from = 0, layout, due = "now", plain = false, skipVacuum = false, stream }) {
      const chosen = stream ?? (layout === "none" ? STREAMS.unordered : STREAMS.ordered);
      const dated = due === "tomorrow" ? { notBefore: "now() + interval '1 day'" } : {};
      const step = plain ? BURST : FILL_STEP;
      const key = keySql("g", layout, keys);
      await fillBulk({ stream: chosen, from, rows, key, body: bodySql("g", layout, keys), ...dated }, step);
      if (!skipVacuum) await vacuum();
    },
    isEmpty,
    instruction: (index) => `${fills}-${index}`,
    async reset() {
      // Nothing is deleted: the engine refuses to truncate its tables, and a real archive is never empty.
      if (!(await isEmpty())) throw new Error("rows of an earlier fill are still waiting");
      fills += 1;
    },
    async close() {
      await pool.end();
    },
  };
}
