/** `headroom outbox inspect`: everything that is known about one row, with its whole history. */
import type { Command } from "commander";
import { z } from "zod";
import { call } from "../../../db/call.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { endSession, sessionWords } from "../../words/session-words.ts";
import { printFacts, printJson, printLine, printTable, visible } from "../../output.ts";
import { parseId } from "./filters.ts";

export function registerInspect(outbox: Command): void {
  addCommon(
    outbox
      .command("inspect")
      .description("show one row: its facts, its payload, where it is, and every line of its history")
      .argument("<id>", "outbox id", parseId),
  ).action(runInspect);
}

const lineSchema = z.looseObject({
  attempt_no: z.number(),
  state: z.string(),
  recorded_at: z.string(),
  relay: z.string().optional(),
  relay_id: z.number().optional(),
  latency_ms: z.number().optional(),
  uncertain: z.boolean().optional(),
  rail_code: z.string().optional(),
  rail_reference: z.string().optional(),
  error_code: z.string().optional(),
  error_message: z.string().optional(),
  actor: z.string().optional(),
  reason: z.string().optional(),
});
type Line = z.infer<typeof lineSchema>;

const rowSchema = z.looseObject({
  outbox_id: z.string(),
  stream: z.string(),
  place: z.string(),
  rail: z.string().optional(),
  destination: z.string().optional(),
  tries: z.number().optional(),
  next_attempt_at: z.string().optional(),
  waits_for: z.looseObject({ outbox_id: z.string() }).optional(),
  held_by: z
    .looseObject({
      reason: z.string(),
      until: z.string().optional(),
      grant: z.string().optional(),
      pid: z.number().optional(),
      login: z.string().optional(),
      application: z.string().optional(),
      since: z.string().optional(),
    })
    .optional(),
  lines: z.array(lineSchema),
  payload: z.json(),
});

type Row = z.infer<typeof rowSchema>;

async function runInspect(id: string, options: CommonOptions): Promise<void> {
  const found = await withDatabase(options, "outbox inspect", (client) =>
    call(client, "outbox.inspect", { p_outbox_id: id }),
  );
  const row = rowSchema.parse(found);
  if (options.json === true) printJson(camelCased(row));
  else show(row);
}

/** Fields whose names come from users, and are not changed. */
const verbatim = new Set(["payload", "captures", "binds", "captured"]);

function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      verbatim.has(name) ? part : camelCased(part),
    ]),
  );
}

function show(row: Row): void {
  const { lines, payload, ...facts } = row;
  printFacts(
    Object.entries(facts).map(([name, value]) => [
      name.replaceAll("_", " "),
      value === null || typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
  printLine();
  printLine("payload");
  for (const line of (payload === null
    ? "(none: it was erased, or deleted after its retention)"
    : JSON.stringify(payload, null, 2)
  ).split("\n")) {
    printLine(`  ${visible(line)}`);
  }
  printLine();
  showLines(lines);
  const next = nextStep(row);
  if (next !== null) printLine(`\nNext: ${next}`);
}

function showLines(lines: readonly Line[]): void {
  if (lines.length === 0) return printLine("No lines yet: it has not been claimed.");
  printTable(lines, [
    { title: "LINE", value: (line) => line.attempt_no, align: "right" },
    { title: "STATE", value: (line) => line.state + (line.uncertain === true ? " (uncertain)" : "") },
    { title: "AT", value: (line) => line.recorded_at },
    { title: "MS", value: (line) => line.latency_ms, align: "right" },
    { title: "RELAY", value: (line) => line.relay ?? line.relay_id },
    { title: "CODE", value: (line) => line.error_code ?? line.rail_code },
    { title: "REFERENCE", value: (line) => line.rail_reference },
    { title: "MESSAGE, OR WHO AND WHY", value: messageOf },
  ]);
}

function messageOf(line: Line): string | undefined {
  return line.actor === undefined ? line.error_message : `${line.actor}: ${line.reason ?? ""}`;
}

function nextStep(row: Row): string | null {
  const { place, outbox_id: id, rail, destination, waits_for: first, held_by: held, next_attempt_at: next } = row;
  if (first !== undefined) return `a row of the same key comes first: headroom outbox inspect ${first.outbox_id}`;
  if (held?.reason === "rail_not_served")
    return `no relay serves the rail ${rail ?? ""}: start one, or see headroom doctor`;
  if (held?.grant !== undefined)
    return `the rail ${rail ?? ""} acts with the installation's credentials. If every writer of the stream may use it: ${held.grant}. If not: headroom outbox skip ${id} --reason "…"`;
  if (held?.pid !== undefined) {
    const who = sessionWords({ ...held, pid: held.pid });
    return `${who} has it locked${held.since === undefined ? "" : `, since ${held.since}`}. If that lasts: ${endSession(held.pid)}`;
  }
  if (held !== undefined) {
    const why = held.reason === "circuit_open" ? "is not called after failures" : "has a rate limit";
    return `${destination ?? "its destination"} ${why}; the next call is at ${held.until ?? "a later time"}: headroom outbox destinations`;
  }
  if (place === "parked") {
    return `find out whether it arrived, then headroom outbox resolve ${id} --delivered (or --not-delivered) --reason "…"`;
  }
  if (place === "dead") return `headroom outbox redrive ${id} --reason "…", or skip it`;
  if (place === "pending" && (row.tries ?? 0) > 0 && next !== undefined && Date.parse(next) > Date.now()) {
    return `it is tried again at ${next}. To try it now: headroom outbox retry-now ${id} --reason "…"`;
  }
  return null;
}
