/** The relays that the database knows, and whether they are still alive. */
import type { ClientBase } from "pg";
import { toHeadroomError } from "../../db/errors.ts";

export interface RelayEntry {
  readonly relayId: number;
  readonly name: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly seenSecondsAgo: number;
  /** A relay reports every minute; after three without a report it is treated as dead. A relay on demand lives for a turn. */
  readonly alive: boolean;
  /** Whether it is one turn of a relay on demand, started by the route or by the server itself. */
  readonly onDemand: boolean;
  /** When that turn ended. */
  readonly endedAt: Date | null;
  /** Its rails; null if it did not report them. */
  readonly rails: readonly string[] | null;
}

const silentAfterSeconds = 180;

/** How long ago a relay on demand had its last known turn; undefined if there is none. */
export function lastTurnSecondsAgo(relays: readonly RelayEntry[]): number | undefined {
  const turns = relays.filter(({ onDemand }) => onDemand).map(({ seenSecondsAgo }) => seenSecondsAgo);
  return turns.length === 0 ? undefined : Math.min(...turns);
}

/** Whether anything delivers: a process, or recent turns. */
export function isRelayed(relays: readonly RelayEntry[]): boolean {
  return relays.some(({ alive }) => alive) || (lastTurnSecondsAgo(relays) ?? Infinity) < silentAfterSeconds;
}

export async function readRelays(client: ClientBase): Promise<RelayEntry[]> {
  const result = await client
    .query<{
      relay_id: number;
      name: string;
      started_at: Date;
      seen_at: Date;
      seconds: number;
      rails: string[] | null;
      on_demand: boolean;
      ended_at: Date | null;
    }>(
      `select relay_id, name, started_at, seen_at, extract(epoch from now() - seen_at)::float8 as seconds, rails, on_demand, ended_at
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
    alive: row.seconds < silentAfterSeconds && row.ended_at === null,
    onDemand: row.on_demand,
    endedAt: row.ended_at,
    rails: row.rails,
  }));
}
