/** `headroom outbox destinations` and `limit`: where rows are sent, how fast they may be, and when a circuit opens. */
import { type Command, InvalidArgumentError } from "commander";
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, visible } from "../../output.ts";

type Destination = FunctionResult<"webhooks.destination_status">[number];

interface LimitOptions extends CommonOptions {
  readonly perSecond?: number;
  readonly minIntervalMs?: number;
  readonly failures?: number;
  readonly openMs?: number;
  readonly clear?: boolean;
  readonly reset?: boolean;
}

export function registerDestinations(outbox: Command): void {
  addCommon(outbox.command("destinations").description("list destinations, their limits and circuits")).action(runList);
  addCommon(
    outbox
      .command("limit")
      .description("limit how fast a destination is sent to, and set when its circuit opens")
      .argument(
        "<destination>",
        "as `outbox destinations` names it: the destination or endpoint, a kind (slack:), or * for all that have no limits themselves",
      )
      .option("--per-second <count>", "at most this many sends a second; 0 removes the limit", perSecond)
      .option(
        "--min-interval-ms <ms>",
        "the same limit, as the minimum time between two sends",
        parseWhole(0, 86_400_000),
      )
      .option("--failures <count>", "open its circuit after this many failures in a row", parseWhole(1, 1_000_000))
      .option("--open-ms <ms>", "how long the circuit stays open at first; longer each time", parseWhole(1, 3_600_000))
      .option("--clear", "end its pause and close its circuit: the receiver works again")
      .option("--reset", "give it the limits registered by this release"),
  ).action(runLimit);
}

function perSecond(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 0 && value <= 1_000) return value;
  throw new InvalidArgumentError("Give a number from 0 to 1000, such as 5 or 0.5.");
}

async function runList(options: CommonOptions): Promise<void> {
  const destinations = await withDatabase(options, "outbox destinations", readDestinations);
  if (options.json === true) return printJson({ destinations: destinations.map(toJson) });
  printTable(destinations, [
    { title: "DESTINATION", value: (row) => row.destination },
    { title: "ENDPOINT", value: (row) => row.endpoint },
    { title: "LIMIT", value: limitOf },
    { title: "CIRCUIT", value: (row) => row.circuit },
    { title: "FAILURES", value: (row) => row.failures, align: "right" },
    { title: "NEXT SEND", value: (row) => row.next_slot_at },
    { title: "LAST ERROR", value: (row) => row.last_error_code },
  ]);
}

function readDestinations(client: Client): Promise<Destination[]> {
  return call(client, "webhooks.destination_status", {});
}

function toJson(row: Destination) {
  return {
    destination: row.destination,
    endpoint: row.endpoint,
    minIntervalMs: row.min_interval_ms,
    circuit: row.circuit,
    failures: row.failures,
    nextSlotAt: row.next_slot_at,
    lastErrorCode: row.last_error_code,
  };
}

function limitOf({ min_interval_ms: gap }: Pick<Destination, "min_interval_ms">): string {
  return gap === 0 ? "none" : `one every ${gap} ms`;
}

async function runLimit(name: string, options: LimitOptions): Promise<void> {
  const { failures, openMs, clear, reset } = options;
  const gapMs = gapOf(options);
  const limits = [gapMs, failures, openMs];
  if (limits.every((value) => value === undefined) && clear !== true && reset !== true) {
    throw new HeadroomError("usage", "No limit was given.", {
      hint: `For example: headroom outbox limit ${name} --per-second 5. headroom outbox destinations shows the present limits.`,
    });
  }
  const { before, after } = await withDatabase(options, "outbox limit", async (client) => {
    const found = findDestination(await readDestinations(client), name);
    // There is nothing to clear at a name that was never used, and clearing it would put it on the list.
    if (found === undefined && clear === true) throw unknownDestination(name);
    const destination = found?.destination ?? name;
    if (reset === true) await call(client, "outbox.reset_limits", { p_name: destination });
    if (limits.some((value) => value !== undefined)) {
      await call(client, "outbox.limit_destination", {
        p_name: destination,
        p_min_interval_ms: gapMs ?? null,
        p_failure_threshold: failures ?? null,
        p_open_base_ms: openMs ?? null,
      });
    }
    if (clear === true) await call(client, "outbox.clear_destination", { p_name: destination });
    return { before: found, after: findDestination(await readDestinations(client), destination) };
  });
  if (after === undefined) throw unknownDestination(name);
  if (options.json === true) return printJson({ ...toJson(after), isNew: before === undefined });
  printLine(visible(describeLimits(after, options).join(" ")));
  if (before === undefined) {
    printLine("Nothing has been sent there yet. Check the name: headroom outbox destinations lists the known ones.");
  }
}

function unknownDestination(name: string): HeadroomError {
  return new HeadroomError("not_found", `There is no destination "${name}".`, {
    hint: "headroom outbox destinations lists them. Nothing was changed.",
  });
}

function describeLimits(row: Destination, { failures, openMs, clear }: LimitOptions): string[] {
  const name = row.endpoint ?? row.destination;
  const gapMs = row.min_interval_ms;
  return [
    gapMs === 0 ? `${name} has no rate limit.` : `${name} is sent to at most once every ${gapMs} ms.`,
    ...(failures === undefined ? [] : [`Its circuit opens after ${failures} failures in a row.`]),
    ...(openMs === undefined ? [] : [`Its circuit stays open for ${openMs} ms at first.`]),
    ...(clear === true ? ["Its pause is ended and its circuit is closed."] : []),
    "All relays follow this from their next claim on.",
  ];
}

/** An endpoint's destination is named by the endpoint's id, which nobody types, so its name is accepted too. */
function findDestination(all: readonly Destination[], name: string): Destination | undefined {
  return all.find((row) => row.destination === name) ?? all.find((row) => row.endpoint === name);
}

function gapOf({ perSecond: rate, minIntervalMs }: LimitOptions): number | undefined {
  if (rate === undefined) return minIntervalMs;
  if (minIntervalMs !== undefined) {
    throw new HeadroomError("usage", "--per-second and --min-interval-ms set the same limit; give only one of them.");
  }
  return rate === 0 ? 0 : Math.ceil(1_000 / rate);
}
