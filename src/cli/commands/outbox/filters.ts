/**
 * Which dead letters are meant: by stream, error code, time of death and doubt. The same options everywhere.
 *
 * Owns: the options and reading times. Relative times (`2h`) count back from the database's clock, by which rows die.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { ClientBase } from "pg";
import type { FunctionArgs } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";

export interface FilterOptions {
  readonly stream?: string;
  readonly code?: string;
  readonly from?: Moment;
  readonly to?: Moment;
  readonly parked?: boolean;
}

export type DeadFilter = Omit<FunctionArgs<"outbox.count_dead">, "p_from" | "p_to"> & {
  readonly p_from?: Date;
  readonly p_to?: Date;
};

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

export function addFilters(command: Command): Command {
  return command
    .option("--stream <name>", "only of this stream")
    .option("--code <code>", "only with this error code")
    .addOption(
      new Option("--from <time>", "only dead since then: a date and time, or 90m, 24h, 7d ago").argParser(parseMoment),
    )
    .addOption(new Option("--to <time>", "only dead before then").argParser(parseMoment))
    .option("--parked", "only those that only a person may decide about")
    .option("--no-parked", "only those that may be redriven as they are");
}

export function hasFilter(options: FilterOptions): boolean {
  const { stream, code, from, to, parked } = options;
  return [stream, code, from, to, parked].some((value) => value !== undefined);
}

/** The filter as the SQL takes it. `now` is the database's. */
export function toFilter(options: FilterOptions, now: Date): DeadFilter {
  const timeOf = (moment: Moment): Date =>
    moment.kind === "at" ? moment.time : new Date(now.getTime() - moment.seconds * 1_000);
  const [from, to] = [options.from, options.to].map((moment) => (moment === undefined ? undefined : timeOf(moment)));
  if (from !== undefined && to !== undefined && from >= to) {
    throw new HeadroomError("usage", "--from must be before --to.", {
      hint: "Times are of death, the earlier one first.",
    });
  }
  return {
    ...(options.stream === undefined ? {} : { p_stream: options.stream }),
    ...(options.code === undefined ? {} : { p_error_code: options.code }),
    ...(from === undefined ? {} : { p_from: from }),
    ...(to === undefined ? {} : { p_to: to }),
    ...(options.parked === undefined ? {} : { p_parked: options.parked }),
  };
}

export async function readClock(client: ClientBase): Promise<Date> {
  const result = await client.query<{ now: Date }>("select clock_timestamp() as now");
  return result.rows[0]?.now ?? new Date();
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** For arguments: an id that is none is a mistake in the call, not a row that is missing. */
export function parseId(text: string): string {
  if (uuid.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("An outbox id is a UUID, as `headroom outbox dead` shows it.");
}

export function collectId(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), parseId(text)];
}
