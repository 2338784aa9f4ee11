/** The relays that the database knows, and whether they still show signs of life. */
import type { ClientBase } from "pg";
import { toHeadroomError } from "../../db/errors.ts";

export interface RelayEntry {
  readonly relayId: number;
  readonly name: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly seenSecondsAgo: number;
  /** A relay says that it lives every minute; after three it is taken for dead. */
  readonly alive: boolean;
  /** What it delivers by; null when it did not say. */
  readonly rails: readonly string[] | null;
}

const silentAfterSeconds = 180;

export async function readRelays(client: ClientBase): Promise<RelayEntry[]> {
  const result = await client
    .query<{
      relay_id: number;
      name: string;
      started_at: Date;
      seen_at: Date;
      seconds: number;
      rails: string[] | null;
    }>(
      `select relay_id, name, started_at, seen_at, extract(epoch from now() - seen_at)::float8 as seconds, rails
         from outbox.relays order by relay_id`,
    )
    .catch((error: unknown) => {
      throw toHeadroomError(error);
    });
  return result.rows.map((row) => ({
    relayId: row.relay_id,
    name: row.name,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    seenSecondsAgo: Math.max(0, Math.round(row.seconds)),
    alive: row.seconds < silentAfterSeconds,
    rails: row.rails,
  }));
}
