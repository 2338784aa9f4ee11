/**
 * The streams that a relay serves, as the database describes them.
 */
import { call, type Queryable } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";

/** Instead of a name: all streams that Headroom's migrations made. No stream can have this name. */
export const builtInStreams = "@built-in";

export interface Stream {
  readonly id: number;
  readonly name: string;
  readonly ordered: boolean;
  readonly carriesMoney: boolean;
  readonly resendBlind: boolean;
  readonly leaseMs: number;
  readonly runLength: number;
  /** Written only by Headroom's own functions. */
  readonly ours: boolean;
  /** Made by Headroom's migrations. */
  readonly builtIn: boolean;
}

/** The streams that are named, and those that are not; an unknown name is an error that lists the known ones. */
export async function readStreams(
  db: Queryable,
  names: readonly string[],
): Promise<{ readonly served: Stream[]; readonly left: Stream[] }> {
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
    builtIn: row.built_in,
  }));
  const served = names.flatMap((name) => {
    if (name === builtInStreams) return known.filter((candidate) => candidate.builtIn);
    const stream = known.find((candidate) => candidate.name === name);
    if (stream !== undefined) return [stream];
    throw new HeadroomError("unknown_stream", `There is no stream named "${name}".`, {
      detail: `Known: ${known.map((candidate) => candidate.name).join(", ")}.`,
      hint: "Make it with outbox.create_stream(), or leave it out.",
    });
  });
  return { served: [...new Set(served)], left: known.filter((stream) => !served.includes(stream)) };
}
