/** Selects dead letters: by stream, error code, when they were given up, and whether they are parked. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { FunctionArgs } from "../../../db/call.ts";
import { parseMoment, periodOf, type Moment } from "../../words/moment.ts";

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

export function addFilters(command: Command): Command {
  return command
    .option("--stream <name>", "only in this stream")
    .option("--code <code>", "only with this error code")
    .addOption(
      new Option("--from <time>", "only given up since then: a date and time, or 90m, 24h, 7d ago").argParser(
        parseMoment,
      ),
    )
    .addOption(new Option("--to <time>", "only given up before then").argParser(parseMoment))
    .option("--parked", "only parked ones, which a person must decide")
    .option("--no-parked", "only ones that are not parked, and can be redriven");
}

export function hasFilter(options: FilterOptions): boolean {
  const { stream, code, from, to, parked } = options;
  return [stream, code, from, to, parked].some((value) => value !== undefined);
}

/** The filter as the SQL takes it. `now` is the database's. */
export function toFilter(options: FilterOptions, now: Date): DeadFilter {
  const { from, to } = periodOf(options, now);
  return {
    ...(options.stream === undefined ? {} : { p_stream: options.stream }),
    ...(options.code === undefined ? {} : { p_error_code: options.code }),
    ...(from === undefined ? {} : { p_from: from }),
    ...(to === undefined ? {} : { p_to: to }),
    ...(options.parked === undefined ? {} : { p_parked: options.parked }),
  };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** For arguments: anything that cannot be an id is a usage error, not a missing row. */
export function parseId(text: string): string {
  if (uuid.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("An outbox id is a UUID, as `headroom outbox dead` shows it.");
}

export function collectId(text: string, before: readonly string[] | undefined): string[] {
  return [...(before ?? []), parseId(text)];
}
