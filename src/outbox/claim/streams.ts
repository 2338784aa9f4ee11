/**
 * The streams that a relay serves, as the database describes them.
 */
import { call, type Queryable } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";

export interface Stream {
  readonly id: number;
  readonly name: string;
  readonly ordered: boolean;
  readonly carriesMoney: boolean;
  readonly resendBlind: boolean;
  readonly leaseMs: number;
  readonly runLength: number;
  /** Written by Headroom's own functions alone. */
  readonly ours: boolean;
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
    ours: row.writers?.length === 0,
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
