/**
 * The streams that a relay serves, as the database describes them.
 *
 * Owns: reading them, and refusing to start on settings that would let a lease run out under a live call.
 */
import { call, type Queryable } from "../db/call.ts";
import { HeadroomError } from "../db/errors.ts";
import type { Rail } from "../contract/rail.ts";
import { abortGraceMs } from "./timed.ts";

export interface Stream {
  readonly id: number;
  readonly name: string;
  readonly ordered: boolean;
  readonly carriesMoney: boolean;
  readonly resendBlind: boolean;
  readonly leaseMs: number;
  readonly runLength: number;
}

/** The streams of that name, or all; an unknown name is an error that lists the known ones. */
export async function readStreams(db: Queryable, names: readonly string[] | undefined): Promise<Stream[]> {
  const rows = await call(db, "outbox.list_streams", {});
  const known = rows.map((row): Stream => ({
    id: row.stream_id,
    name: row.name,
    ordered: row.ordered,
    carriesMoney: row.carries_money,
    resendBlind: row.resend_blind,
    leaseMs: row.lease_seconds * 1_000,
    runLength: row.run_length,
  }));
  if (names === undefined) return known;
  return names.map((name) => {
    const stream = known.find((candidate) => candidate.name === name);
    if (stream !== undefined) return stream;
    throw new HeadroomError("unknown_stream", `There is no stream named "${name}".`, {
      detail: `Known: ${known.map((candidate) => candidate.name).join(", ")}.`,
      hint: "Make it with outbox.create_stream(), or leave it out.",
    });
  });
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

/**
 * How long one row may keep its rail busy: an uncertain row of a rail that can look up is asked about, then sent. A call
 * that ignores the abort is given up a moment after its time.
 */
export function longestSendMs(rail: Rail): number {
  const callMs = rail.timeoutMs + abortGraceMs;
  return rail.capability === "lookup" ? 2 * callMs : callMs;
}

/** Declares the rails, and returns them by the number that rows carry. */
export async function registerRails(db: Queryable, rails: readonly Rail[]): Promise<Map<number, Rail>> {
  const byId = new Map<number, Rail>();
  for (const rail of rails) {
    const id = await call(db, "outbox.register_rail", {
      p_name: rail.name,
      p_capability: rail.capability,
      p_timeout_ms: rail.timeoutMs,
      p_dedup_window_ms: rail.dedupWindowMs ?? null,
    });
    byId.set(id, rail);
  }
  return byId;
}
