/** `headroom outbox dead`: a page of dead letters. */
import type { Command } from "commander";
import type { Client } from "pg";
import { call, type FunctionResult } from "../../../db/call.ts";
import { withDatabase } from "../../database.ts";
import { readClock } from "../../words/moment.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { addFilters, parseId, toFilter, type FilterOptions } from "./filters.ts";

interface DeadOptions extends CommonOptions, FilterOptions {
  readonly limit: number;
  readonly after?: string;
}

const maxPage = 10_000;

export function registerDead(outbox: Command): void {
  addCommon(
    addFilters(outbox.command("dead").description("list dead letters, oldest row first"))
      .option("--limit <rows>", `rows on a page, up to ${maxPage}`, parseWhole(1, maxPage), 50)
      .option("--after <id>", "start after this row, for the next page", parseId),
  ).action(runDead);
}

type DeadLetter = FunctionResult<"outbox.list_dead">[number];

async function runDead(options: DeadOptions): Promise<void> {
  const { total, rows } = await withDatabase(options, "outbox dead", (client) => readPage(client, options));
  const last = rows.at(-1)?.outbox_id;
  const next = rows.length === options.limit && last !== undefined ? last : null;
  if (options.json === true) return printJson({ total, rows: rows.map(toJson), next });
  if (rows.length === 0) {
    return printLine(total === 0 ? "No dead letters match." : "No more dead letters match after this row.");
  }
  show(rows);
  printLine();
  printLine(`${rows.length} of ${total} shown.${next === null ? "" : ` More: --after ${next}`}`);
  for (const line of nextSteps(rows)) printLine(line);
}

/** Commands that can be copied, about the first row of the page. */
function nextSteps(rows: readonly DeadLetter[]): string[] {
  const id = rows[0]?.outbox_id ?? "<id>";
  const parked = rows.find((row) => row.parked)?.outbox_id;
  return [
    `What happened:    headroom outbox inspect ${id}`,
    `Send it again:    headroom outbox redrive ${id} --reason "…"`,
    `Or give it up:    headroom outbox skip ${id} --reason "…"`,
    ...(parked === undefined
      ? []
      : [`Parked: decide:   headroom outbox resolve ${parked} --delivered --reason "…"   (or --not-delivered)`]),
  ];
}

async function readPage(client: Client, options: DeadOptions): Promise<{ total: number; rows: DeadLetter[] }> {
  const filter = toFilter(options, await readClock(client));
  return {
    total: await call(client, "outbox.count_dead", filter),
    rows: await call(client, "outbox.list_dead", { ...filter, p_limit: options.limit, p_after: options.after ?? null }),
  };
}

function show(rows: readonly DeadLetter[]): void {
  printTable(rows, [
    { title: "ID", value: (row) => row.outbox_id },
    { title: "STREAM", value: (row) => row.stream },
    { title: "KEY", value: (row) => row.key },
    { title: "SEQ", value: (row) => row.seq, align: "right" },
    { title: "RAIL", value: (row) => row.rail },
    { title: "CODE", value: (row) => row.error_code },
    { title: "TRIES", value: (row) => row.tries, align: "right" },
    { title: "DIED", value: (row) => row.died_at },
    {
      title: "STATE",
      value: stateOf,
    },
    { title: "MESSAGE", value: (row) => row.error_message },
  ]);
}

function stateOf(row: DeadLetter): string {
  const doubt = row.uncertain ? ["may have arrived"] : [];
  return [row.parked ? "parked" : "dead", ...doubt, ...(row.blocks_lane ? ["blocks its key"] : [])].join(", ");
}

function toJson(row: DeadLetter) {
  return {
    outboxId: row.outbox_id,
    stream: row.stream,
    key: row.key,
    seq: row.seq,
    rail: row.rail,
    instructionId: row.instruction_id,
    idempotencyKey: row.idempotency_key,
    parked: row.parked,
    uncertain: row.uncertain,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    tries: row.tries,
    lines: row.lines,
    createdAt: row.created_at,
    diedAt: row.died_at,
    blocksLane: row.blocks_lane,
  };
}
