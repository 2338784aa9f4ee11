/** `headroom outbox destinations` and `limit`: where rows go, how fast they may, and when a circuit opens. */
import { type Command, InvalidArgumentError } from "commander";
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, visible } from "../../output.ts";

type Destination = FunctionResult<"outbox.destination_status">[number];

interface LimitOptions extends CommonOptions {
  readonly perSecond?: number;
  readonly minIntervalMs?: number;
  readonly failures?: number;
  readonly openMs?: number;
  readonly clear?: boolean;
}

export function registerDestinations(outbox: Command): void {
  addCommon(outbox.command("destinations").description("list destinations, their limits and circuits")).action(runList);
  addCommon(
    outbox
      .command("limit")
      .description("limit how fast a destination is sent to, and say when its circuit opens")
      .argument(
        "<destination>",
        "as `outbox destinations` names it: the destination or endpoint, a kind (slack:), or * for all of which nothing is said",
      )
      .option("--per-second <count>", "at most so many sends a second; 0 lifts the limit", perSecond)
      .option("--min-interval-ms <ms>", "the same as the least gap between two sends", parseWhole(0, 86_400_000))
      .option("--failures <count>", "its circuit opens after so many failures in a row", parseWhole(1, 1_000_000))
      .option("--open-ms <ms>", "how long it stays open at first; longer each time", parseWhole(1, 3_600_000))
      .option("--clear", "lift its pause and its open circuit: the receiver is well again"),
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
  return call(client, "outbox.destination_status", {});
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
  const { failures, openMs, clear } = options;
  const gapMs = gapOf(options);
  if (gapMs === undefined && failures === undefined && openMs === undefined && clear !== true) {
    throw new HeadroomError("usage", "Say what is to be limited.", {
      hint: `headroom outbox limit ${name} --per-second 5. headroom outbox destinations shows what holds now.`,
    });
  }
  const { before, after } = await withDatabase(options, "outbox limit", async (client) => {
    const found = findDestination(await readDestinations(client), name);
    const destination = found?.destination ?? name;
    await call(client, "outbox.limit_destination", {
      p_name: destination,
      p_min_interval_ms: gapMs ?? null,
      p_failure_threshold: failures ?? null,
      p_open_base_ms: openMs ?? null,
    });
    if (clear === true) await call(client, "outbox.clear_destination", { p_name: destination });
    return { before: found, after: findDestination(await readDestinations(client), destination) };
  });
  if (after === undefined) throw new HeadroomError("not_found", `There is no destination "${name}".`);
  if (options.json === true) return printJson({ ...toJson(after), isNew: before === undefined });
  const kept = [
    after.min_interval_ms === 0 ? "no limit of speed" : limitOf(after),
    ...(failures === undefined ? [] : [`circuit opens after ${failures} failures in a row`]),
    ...(openMs === undefined ? [] : [`open for ${openMs} ms at first`]),
    ...(clear === true ? ["nothing is held against it any more"] : []),
  ];
  printLine(
    visible(
      `${after.endpoint ?? after.destination}: ${kept.join("; ")}. It holds from the next claim on, for all relays.`,
    ),
  );
  if (before === undefined) {
    printLine("Nothing was sent there before: is the name right? headroom outbox destinations lists the others.");
  }
}

/** An endpoint's destination has its id for a name, which nobody types. */
function findDestination(all: readonly Destination[], name: string): Destination | undefined {
  return all.find((row) => row.destination === name) ?? all.find((row) => row.endpoint === name);
}

function gapOf({ perSecond: rate, minIntervalMs }: LimitOptions): number | undefined {
  if (rate === undefined) return minIntervalMs;
  if (minIntervalMs !== undefined) {
    throw new HeadroomError("usage", "--per-second and --min-interval-ms say the same; give one of them.");
  }
  return rate === 0 ? 0 : Math.ceil(1_000 / rate);
}
