/**
 * Everything that is known after a run, from three independent sources: the producers' books, the
 * database, and the receiver's record.
 */
import type { Client } from "pg";
import type { ReceivedRequest, ReceiverRecord } from "../../integration/rails/receiver/receiver-record.ts";
import type { Intent } from "./ledger.ts";
import { streamNames } from "./streams.ts";

export interface Line {
  readonly outboxId: string;
  readonly attemptNo: number;
  readonly state: string;
  readonly claimId: number | null;
  readonly relayId: number | null;
  /** Milliseconds since the epoch by the database's clock, with fractions. */
  readonly atMs: number;
  readonly uncertain: boolean;
  readonly outOfOrder: boolean;
  /** The receiver's code of a delivery, the error code of everything else. */
  readonly code: string | null;
}

export interface StoredRow {
  readonly outboxId: string;
  readonly stream: string;
  readonly laneId: number | null;
  readonly seq: number | null;
  readonly n: number;
  readonly coalesceKey: string | null;
  readonly goesOnPastDead: boolean;
}

export interface Evidence {
  readonly intents: readonly Intent[];
  readonly rows: ReadonlyMap<string, StoredRow>;
  /** Rows by lane; those without order under null. */
  readonly lanes: ReadonlyMap<number | null, readonly StoredRow[]>;
  /** By row, in the order of their numbers. */
  readonly lines: ReadonlyMap<string, readonly Line[]>;
  readonly record: ReceiverRecord;
  /** By row, in order of arrival. */
  readonly requests: ReadonlyMap<string, readonly ReceivedRequest[]>;
  /** Rows that the operator wanted to give up. */
  readonly skipped: ReadonlySet<string>;
  readonly deadIds: ReadonlySet<string>;
}

const rowsQuery = `
  select m.outbox_id as "outboxId", s.name as "stream", m.lane_id::int as "laneId", m.seq::int as "seq",
         (m.payload ->> 'n')::int as "n", m.coalesce_key as "coalesceKey", s.on_dead = 'skip' as "goesOnPastDead"
    from outbox.payloads m join outbox.streams s on s.stream_id = m.stream_id
   where s.name = any ($1)`;

const linesQuery = `
  select a.outbox_id as "outboxId", a.attempt_no as "attemptNo", a.state::text as "state", a.claim_id::int as "claimId",
         a.relay_id as "relayId", (extract(epoch from a.recorded_at) * 1000)::float8 as "atMs", a.uncertain,
         a.out_of_order as "outOfOrder", coalesce(a.error_code, a.rail_code) as "code"
    from outbox.attempts a join outbox.streams s on s.stream_id = a.stream_id
   where s.name = any ($1)
   order by a.outbox_id, a.attempt_no`;

export async function gatherEvidence(
  client: Client,
  intents: readonly Intent[],
  record: ReceiverRecord,
  skipped: ReadonlySet<string>,
): Promise<Evidence> {
  const rows = await client.query<StoredRow>(rowsQuery, [streamNames]);
  const lines = await client.query<Line>(linesQuery, [streamNames]);
  const dead = await client.query<{ outbox_id: string }>("select outbox_id from outbox.dead");
  return {
    intents,
    rows: new Map(rows.rows.map((row) => [row.outboxId, row])),
    lanes: Map.groupBy(rows.rows, ({ laneId }) => laneId),
    lines: Map.groupBy(lines.rows, ({ outboxId }) => outboxId),
    record,
    requests: Map.groupBy(record.requests, ({ webhookId }) => webhookId),
    skipped,
    deadIds: new Set(dead.rows.map((row) => row.outbox_id)),
  };
}

/** The claim and the line under which a request was sent, which relays put into its path. */
export function senderOf(request: ReceivedRequest): { claimId: number; attemptNo: number } | undefined {
  const match = /^(?:\/slow)?\/(\d+)\/(\d+)$/.exec(request.path);
  return match === null ? undefined : { claimId: Number(match[1]), attemptNo: Number(match[2]) };
}

export function intentOf(body: string): number | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== "object" || parsed === null || !("n" in parsed)) return undefined;
    return typeof parsed.n === "number" ? parsed.n : undefined;
  } catch {
    return undefined;
  }
}
