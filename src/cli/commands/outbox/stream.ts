/** `headroom outbox stream`: shows the settings of streams, changes the ones that are given, or creates a stream. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { changeStream, createStream, type StreamChanges } from "../../../outbox/operate/create-stream.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, collect, emptied, parseWhole, type CommonOptions } from "../../options.ts";
import { printFacts, printJson, printLine, printTable } from "../../output.ts";

type Stream = FunctionResult<"outbox.list_streams">[number];

/** False: cleared, by the option that begins with --no-. */
interface StreamOptions extends CommonOptions {
  readonly create?: boolean;
  readonly order?: boolean;
  readonly retention?: string;
  readonly onDead?: "block" | "skip";
  readonly carriesMoney?: boolean;
  readonly resendBlind?: boolean;
  readonly maxTries?: number;
  readonly backoffBaseMs?: number;
  readonly backoffFactor?: number;
  readonly backoffCapMs?: number;
  readonly leaseSeconds?: number;
  readonly runLength?: number;
  readonly maxPayloadBytes?: number;
  readonly dedupeDays?: number | false;
  readonly writer?: readonly string[] | false;
  readonly reset?: readonly string[];
  readonly resetAll?: boolean;
}

export function registerStream(outbox: Command): void {
  addCommon(
    outbox
      .command("stream")
      .description("show streams and their settings, change the settings given here, or create a stream")
      .argument("[name]", "the stream; without it all are listed")
      .option("--create", "create the stream if it does not exist")
      .option("--no-order", "with --create: rows of a key may be sent in any order")
      .addOption(
        new Option("--retention <class>", "with --create: how long the archive is kept").choices([
          "forever",
          "quarter",
          "week",
        ]),
      )
      .addOption(new Option("--on-dead <what>", "what a dead row does to those behind it").choices(["block", "skip"]))
      .option("--carries-money", "payloads are payments, and validated before they are sent")
      .option("--no-carries-money", "payloads are not payments")
      .option(
        "--resend-blind",
        "send rows again that may have arrived, if the receiver cannot tell: a duplicate is harmless",
      )
      .option("--no-resend-blind", "park such rows, for a person to decide")
      .option("--max-tries <count>", "calls before a row is given up", parseWhole(1, 1_000))
      .option("--backoff-base-ms <ms>", "the longest wait before the first retry", parseWhole(1, 3_600_000))
      .option("--backoff-factor <factor>", "how many times longer each further wait is, 1 to 10", parseFactor)
      .option("--backoff-cap-ms <ms>", "the longest wait before any retry", parseWhole(1, 86_400_000))
      .option("--lease-seconds <seconds>", "how long a claimed row belongs to its relay", parseWhole(1, 3_600))
      .option("--run-length <count>", "most rows of one key in one claim", parseWhole(1, 1_000))
      .option("--max-payload-bytes <bytes>", "larger payloads are refused", parseWhole(1, 16_777_216))
      .option("--dedupe-days <days>", "how long idempotency keys are remembered", parseWhole(1, 36_500))
      .option("--no-dedupe-days", "remember idempotency keys forever")
      .option("--writer <role>", "a role that may enqueue; may be repeated", collectWriter)
      .option("--no-writer", "every role that may call outbox.enqueue() may enqueue")
      .option(
        "--reset <setting>",
        "give a setting, such as max-tries, the value registered by this release; may be repeated",
        collect,
      )
      .option("--reset-all", "give all settings the values registered by this release"),
  ).action(runStream);
}

function parseFactor(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= 1 && value <= 10) return value;
  throw new InvalidArgumentError("Give a number from 1 to 10, such as 2 or 1.5.");
}

function collectWriter(text: string, before: readonly string[] | boolean | undefined): string[] {
  return collect(text, Array.isArray(before) ? before : undefined);
}

async function runStream(name: string | undefined, options: StreamOptions): Promise<void> {
  if (name === undefined) return list(options);
  const changes = changesOf(options);
  const isReset = options.resetAll === true || options.reset !== undefined;
  const isChange = isReset || Object.values(changes).some((value) => value !== undefined);
  const { stream, made } = await withDatabase(options, "outbox stream", (client) =>
    changeOrMake(client, name, options, { changes, isReset, isChange }),
  );
  if (options.json === true) return printJson({ stream: toJson(stream), made });
  show(stream);
  if (made)
    printLine(
      "\nThe stream was created. Relays read the list of streams when they start: restart those that are to serve it.",
    );
  else if (isChange) advise(isReset, changes);
}

async function changeOrMake(
  client: Client,
  name: string,
  options: StreamOptions,
  {
    changes,
    isReset,
    isChange,
  }: { readonly changes: StreamChanges; readonly isReset: boolean; readonly isChange: boolean },
): Promise<{ readonly stream: Stream; readonly made: boolean }> {
  const known = await call(client, "outbox.list_streams", {});
  const found = known.find((stream) => stream.name === name);
  if (found === undefined) {
    if (options.create !== true) throw unknown(name, known);
    const { dedupeDays, writers, ...rest } = changes;
    await createStream(client, name, {
      ...rest,
      ordered: options.order,
      retention: options.retention,
      dedupeDays: dedupeDays ?? undefined,
      writers: writers ?? undefined,
    });
    const made = (await call(client, "outbox.list_streams", {})).find((stream) => stream.name === name);
    if (made === undefined) throw unknown(name, known);
    return { stream: made, made: true };
  }
  if (options.retention !== undefined || options.order === false) {
    throw new HeadroomError("usage", "Order and retention are fixed when a stream is created.", {
      hint: "Create another stream with --create. Nothing was changed.",
    });
  }
  // The reset comes first, so that a setting that is also given gets the given value.
  const stream = isReset ? await reset(client, name, options) : found;
  return { stream: isChange ? await changeStream(client, name, changes) : stream, made: false };
}

/** Settings are named as the options that set them, or as the database names them. */
async function reset(client: Client, name: string, { reset: settings, resetAll }: StreamOptions): Promise<Stream> {
  return call(client, "outbox.reset_stream", {
    p_name: name,
    p_settings:
      resetAll === true ? null : (settings ?? []).map((setting) => setting.replace(/^--/, "").replaceAll("-", "_")),
  });
}

function unknown(name: string, known: readonly Stream[]): HeadroomError {
  return new HeadroomError("unknown_stream", `There is no stream "${name}".`, {
    detail: `There are: ${known.map((stream) => stream.name).join(", ")}`,
    hint: "Give one of these names, or create it: headroom outbox stream <name> --create",
  });
}

function changesOf(options: StreamOptions): StreamChanges {
  return {
    onDead: options.onDead,
    carriesMoney: options.carriesMoney,
    resendBlind: options.resendBlind,
    maxTries: options.maxTries,
    backoffBaseMs: options.backoffBaseMs,
    backoffFactor: options.backoffFactor,
    backoffCapMs: options.backoffCapMs,
    leaseSeconds: options.leaseSeconds,
    runLength: options.runLength,
    maxPayloadBytes: options.maxPayloadBytes,
    dedupeDays: emptied(options.dedupeDays),
    writers: emptied(options.writer),
  };
}

/** When a change applies: the database reads a stream at each claim and settle, a relay reads some of it when it starts. */
function advise(isReset: boolean, { leaseSeconds, carriesMoney, resendBlind }: StreamChanges): void {
  const atStart = isReset || [leaseSeconds, carriesMoney, resendBlind].some((value) => value !== undefined);
  printLine();
  printLine(
    atStart
      ? "Relays read lease, money and blind resends when they start: restart them one after the other. Other settings apply immediately."
      : "The change applies immediately, to waiting rows and new ones; relays need no restart.",
  );
}

async function list(options: StreamOptions): Promise<void> {
  const streams = await withDatabase(options, "outbox stream", (client) => call(client, "outbox.list_streams", {}));
  if (options.json === true) return printJson({ streams: streams.map(toJson) });
  printTable(streams, [
    { title: "STREAM", value: (row) => row.name },
    { title: "ORDER", value: (row) => (row.ordered ? "per key" : "none") },
    { title: "ON DEAD", value: (row) => row.on_dead },
    { title: "TRIES", value: (row) => row.max_tries, align: "right" },
    { title: "BACKOFF", value: backoffOf },
    { title: "LEASE", value: (row) => `${row.lease_seconds} s`, align: "right" },
    { title: "KEYS KEPT", value: (row) => daysOf(row.dedupe_days) },
    { title: "WRITERS", value: writersOf },
  ]);
}

function toJson(row: Stream) {
  return {
    name: row.name,
    ordered: row.ordered,
    onDead: row.on_dead,
    carriesMoney: row.carries_money,
    resendBlind: row.resend_blind,
    maxTries: row.max_tries,
    backoffBaseMs: row.backoff_base_ms,
    backoffFactor: row.backoff_factor,
    backoffCapMs: row.backoff_cap_ms,
    leaseSeconds: row.lease_seconds,
    runLength: row.run_length,
    maxPayloadBytes: row.max_payload_bytes,
    dedupeDays: row.dedupe_days,
    writers: row.writers,
  };
}

function show(row: Stream): void {
  printFacts([
    ["stream", row.name],
    ["order", row.ordered ? "per key" : "none"],
    ["a dead row", row.on_dead === "block" ? "blocks its key until an operator acts" : "is skipped"],
    ["payloads", row.carries_money ? "are payments, validated before they are sent" : "are not payments"],
    [
      "uncertain rows",
      row.resend_blind ? "are sent again if the rail cannot tell" : "are parked if the rail cannot tell",
    ],
    ["tries", String(row.max_tries)],
    ["backoff", backoffOf(row)],
    ["lease", `${row.lease_seconds} s`],
    ["rows of a key in a claim", `${row.run_length} at most`],
    ["payload", `${row.max_payload_bytes} bytes at most`],
    ["idempotency keys", `remembered ${daysOf(row.dedupe_days)}`],
    ["writers", writersOf(row)],
  ]);
}

function backoffOf({ backoff_base_ms: base, backoff_factor: factor, backoff_cap_ms: cap }: Stream): string {
  return `${base} ms ×${factor}, to ${cap} ms`;
}

function daysOf(days: number | null): string {
  return days === null ? "forever" : `${days} days`;
}

function writersOf({ writers }: Stream): string {
  if (writers === null) return "every role that may enqueue";
  return writers.length === 0 ? "Headroom alone" : writers.join(", ");
}
