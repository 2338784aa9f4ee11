/**
 * Times on the command line: a date and time, or a span back from now (`2h`).
 *
 * Spans count back from the database's clock, which stamps rows.
 */
import { InvalidArgumentError } from "commander";
import type { ClientBase } from "pg";
import { HeadroomError } from "../../db/errors.ts";

/** A point in time, or a distance back from now. */
export type Moment = { readonly kind: "at"; readonly time: Date } | { readonly kind: "ago"; readonly seconds: number };

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Reads `2026-01-31`, `2026-01-31T12:00:00Z`, or `90m`, `24h`, `7d` back from now. */
export function parseMoment(text: string): Moment {
  const ago = /^(\d{1,6})\s*(s|m|h|d)$/.exec(text.trim());
  if (ago !== null) return { kind: "ago", seconds: Number(ago[1]) * (secondsOf[ago[2] ?? ""] ?? 1) };
  const dated = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(text.trim());
  const time = new Date(text.trim().replace(" ", "T"));
  if (dated && !Number.isNaN(time.getTime())) return { kind: "at", time };
  throw new InvalidArgumentError("Give a date and time (2026-01-31T12:00:00Z) or a span back from now (90m, 24h, 7d).");
}

export interface Period {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

/** The times of --from and --to by the database's clock. */
export function periodOf(options: { readonly from?: Moment; readonly to?: Moment }, now: Date): Period {
  const timeOf = (moment: Moment | undefined): Date | undefined => {
    if (moment === undefined) return undefined;
    return moment.kind === "at" ? moment.time : new Date(now.getTime() - moment.seconds * 1_000);
  };
  const [from, to] = [timeOf(options.from), timeOf(options.to)];
  if (from !== undefined && to !== undefined && from >= to) {
    throw new HeadroomError("usage", "--from must be before --to.", { hint: "Give the earlier time as --from." });
  }
  return { from, to };
}

export async function readClock(client: ClientBase): Promise<Date> {
  const result = await client.query<{ now: Date }>("select clock_timestamp() as now");
  return result.rows[0]?.now ?? new Date();
}
