/**
 * Claim, settle and reap called directly, one after the other on one connection and each timed separately: for the
 * questions where a relay's own pipelining would only blur the answer.
 */
import type { Client } from "pg";
import { compositeArray, type CompositeField } from "../../src/db/values/array-literal.ts";
import { nowMs } from "../measure.ts";
import type { StreamName } from "./headroom-queue.ts";

const MAX_ROWS = 500;
const MAX_LANES = 100;

interface ClaimedRow {
  readonly claim_id: string;
  readonly lane_id: string | null;
  readonly seq: string | null;
  readonly outbox_id: string;
  readonly attempt_no: number;
}

export interface ClaimedBatch {
  readonly rows: readonly ClaimedRow[];
  readonly tookMs: number;
}

export interface Steps {
  /** `sinceMs` bounds the scan from below, like a relay that has just drained the stream. */
  claim(sinceMs?: number | null): Promise<ClaimedBatch>;
  /** Settles a whole batch as delivered; returns how long it took in ms. */
  settle(batch: ClaimedBatch): Promise<number>;
  /** Requeues expired rows in one call; returns how many, and how long it took. */
  reap(): Promise<{ rows: number; tookMs: number }>;
  /** Expires every lease of the stream now. */
  expireLeases(): Promise<void>;
}

/** A delivery in a millisecond, as the relay writes it: the fields of outbox.row_outcome in order, up to the last. */
function fieldsOf(row: ClaimedRow): CompositeField[] {
  const said = [row.claim_id, row.lane_id, row.seq, row.outbox_id, row.attempt_no, 1];
  return [...said, ...Array.from({ length: 10 }, () => null)];
}

export async function openSteps(client: Client, stream: StreamName): Promise<Steps> {
  const found = await client.query<{ stream_id: number }>("select stream_id from outbox.streams where name = $1", [
    stream,
  ]);
  const streamId = found.rows[0]?.stream_id;
  if (streamId === undefined) throw new Error(`there is no stream "${stream}"`);
  const started = await client.query<{ relay_id: number }>("select outbox.start_relay('bench') as relay_id");
  const relayId = started.rows[0]?.relay_id;
  // No relay listens here, so producers need not notify.
  await client.query("select outbox.note_relay($1, 'bench', false)", [relayId]);

  return {
    async claim(sinceMs = null) {
      const startedAtMs = nowMs();
      const { rows } = await client.query<ClaimedRow>({
        name: "claim",
        text: "select claim_id, lane_id, seq, outbox_id, attempt_no, body from outbox.claim($1, $2, $3, $4, $5)",
        values: [relayId, streamId, MAX_ROWS, MAX_LANES, sinceMs],
      });
      return { rows, tookMs: nowMs() - startedAtMs };
    },
    async settle({ rows }) {
      const startedAtMs = nowMs();
      const answer = await client.query<{ delivered: number }>({
        name: "settle",
        text: "select delivered from outbox.settle($1, $2::outbox.row_outcome[])",
        values: [streamId, compositeArray(rows.map(fieldsOf))],
      });
      const tookMs = nowMs() - startedAtMs;
      const late = rows.length - (answer.rows[0]?.delivered ?? 0);
      if (late > 0) throw new Error(`${late} rows were settled too late, with nobody else about`);
      return tookMs;
    },
    async reap() {
      const startedAtMs = nowMs();
      const { rows } = await client.query<{ reaped: number }>({
        name: "reap",
        text: "select outbox.reap(100) as reaped",
      });
      return { rows: rows[0]?.reaped ?? 0, tookMs: nowMs() - startedAtMs };
    },
    async expireLeases() {
      await client.query("update outbox.claims set lease_until = now() - interval '1 s' where stream_id = $1", [
        streamId,
      ]);
    },
  };
}
