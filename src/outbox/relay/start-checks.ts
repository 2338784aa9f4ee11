/**
 * What must be right before a relay starts, and the messages for what is not.
 */
import type { Pool } from "pg";
import type { Rail } from "../../contract/rail.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import type { Stream } from "../claim/streams.ts";
import { longestSendMs } from "../dispatch/calls.ts";

/** The connections that a relay needs at the same time: to claim, to settle, to listen, and for tasks. With one more it claims ahead. */
export const connectionsOfRelay = 4;

/** With less, one purpose would wait forever for a connection that another never gives back. */
export function requireRoom(pool: Pool): void {
  if (pool.options.max >= connectionsOfRelay) return;
  throw new HeadroomError(
    "usage",
    `A relay needs ${connectionsOfRelay} connections; the pool has ${pool.options.max}.`,
    {
      hint: "Make the pool larger, or give the relay a connectionString of its own.",
    },
  );
}

/** A lease that a call can outlive would let two relays send the same row while each believes it owns it. */
export function requireSafeLeases(streams: readonly Stream[], rails: readonly Rail[], marginMs: number): void {
  for (const stream of streams) {
    for (const rail of rails) {
      if (stream.leaseMs > longestSendMs(rail) + marginMs) continue;
      throw new HeadroomError(
        "lease_too_short",
        `Stream "${stream.name}" leases rows for ${stream.leaseMs} ms, but rail "${rail.name}" may take ${longestSendMs(rail)} ms plus a margin of ${marginMs} ms.`,
        { hint: "Lengthen the stream's lease_seconds, or shorten the rail's timeoutMs." },
      );
    }
  }
}

/** A database without our schema is the most common first mistake, so it gets its own message. */
export function explainStart(error: unknown): HeadroomError {
  const failure = toHeadroomError(error);
  if (failure.sqlState !== "3F000" && failure.sqlState !== "42883" && failure.sqlState !== "42P01") return failure;
  return new HeadroomError("schema_missing", "The database has no Headroom schema, or an older one.", {
    hint: "Run: headroom migrate",
    cause: error,
  });
}
