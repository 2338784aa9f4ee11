/**
 * Acts of an operator on dead letters: who does it and why, which rows, how many, a question before, progress during, and
 * counts after.
 *
 * Owns: the dialogue and the paging. Does not own: what an act does (the SQL decides, row by row).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { userInfo } from "node:os";
import { type Command, Option } from "commander";
import type { Client } from "pg";
import { call } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { ask } from "../../ask.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { readClock } from "../../moment.ts";
import { addCommon, parseText, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, startProgress } from "../../output.ts";
import { addFilters, hasFilter, toFilter, type DeadFilter, type FilterOptions } from "./filters.ts";

export interface OperatorOptions extends CommonOptions {
  readonly reason: string;
  readonly actor: string;
}

export interface BulkOptions extends OperatorOptions, FilterOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** `cli:` and the login; a name that is not in the system's list of users has only its number. */
function defaultActor(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return `cli:${process.getuid?.() ?? "unknown"}`;
  }
}

export function addOperator(command: Command): Command {
  return addCommon(
    command
      .requiredOption("--reason <text>", "why; it is recorded in the archive", parseText(2_000))
      .addOption(new Option("--actor <name>", "who does this").default(defaultActor()).argParser(parseText(200))),
  );
}

export function addBulk(command: Command): Command {
  return addOperator(addFilters(command))
    .option("--all", "every dead letter, without a filter")
    .option("--yes", "do not ask");
}

export interface RowResult {
  readonly outbox_id: string;
  readonly result: string;
  readonly detail: string | null;
}

export interface Act {
  /** As in "Redrive 12 dead letters?" */
  readonly verb: string;
  readonly noun: string;
  /** The result that means that it was done. */
  readonly done: string;
  /** What is said before the question about rows that the act will refuse. */
  readonly warn: (parked: number) => string | null;
  /** What was kept, and what to do, for each other result. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly run: (client: Client, outboxIds: readonly string[]) => Promise<readonly RowResult[]>;
}

const chunkRows = 500;
/** A key that somebody else holds is free again in a moment, as a rule: so often it is asked for again. */
const busyRounds = 10;
const busyPauseMs = 100;
export const busyAdvice =
  "somebody else works on its key, for longer than a moment. Look for an open transaction, and ask again.";
/** Of the refused rows so many are shown to people; machines get all. */
const shownRefusals = 20;

export async function actOn(act: Act, ids: readonly string[], options: BulkOptions): Promise<void> {
  requireRows(act, ids, options);
  const results = await withDatabase(options, `outbox ${act.verb}`, async (client) => {
    if (ids.length > 0) return actOnIds(act, client, ids);
    return actOnMatches(act, client, options);
  });
  report(act, results, options.json === true);
}

function requireRows(act: Act, ids: readonly string[], options: BulkOptions): void {
  const ways = [ids.length > 0, hasFilter(options), options.all === true].filter(Boolean).length;
  if (ways === 1) return;
  throw new HeadroomError(
    "usage",
    ways === 0 ? `Say which rows to ${act.verb}.` : "Give ids, or a filter, or --all: one of the three.",
    { hint: "Ids, or a filter (--stream, --code, --from, --to, --parked), or --all. Nothing was changed." },
  );
}

async function actOnIds(act: Act, client: Client, ids: readonly string[]): Promise<RowResult[]> {
  const results: RowResult[] = [];
  const progress = startProgress(act.noun);
  try {
    for (let start = 0; start < ids.length; start += chunkRows) {
      results.push(...(await askPatiently(client, ids.slice(start, start + chunkRows), act.run)));
      progress.update(results.length, ids.length);
    }
  } finally {
    progress.finish();
  }
  return results;
}

/** Asks for what is busy again and again, for a while. */
export async function askPatiently(client: Client, ids: readonly string[], run: Act["run"]): Promise<RowResult[]> {
  const results = new Map<string, RowResult>();
  let asked = ids;
  for (let round = 0; asked.length > 0; round += 1) {
    for (const result of await run(client, asked)) results.set(result.outbox_id, result);
    asked = round === busyRounds ? [] : asked.filter((id) => results.get(id)?.result === "busy");
    if (asked.length > 0) await sleep(busyPauseMs);
  }
  return [...results.values()];
}

async function actOnMatches(act: Act, client: Client, options: BulkOptions): Promise<RowResult[]> {
  const now = await readClock(client);
  const given = toFilter(options, now);
  // What dies while this runs was not counted, and must not be touched: it may be what was just redriven.
  const filter = given.p_to !== undefined && given.p_to < now ? given : { ...given, p_to: now };
  const total = await call(client, "outbox.count_dead", filter);
  if (total === 0) return [];
  await confirm(act, total, await countParked(client, filter), options.yes === true);
  const results: RowResult[] = [];
  const progress = startProgress(act.noun);
  try {
    for (let after: string | null = null; ;) {
      const page: { outbox_id: string }[] = await call(client, "outbox.list_dead", {
        ...filter,
        p_limit: chunkRows,
        p_after: after,
      });
      const last = page.at(-1);
      if (last === undefined) return results;
      after = last.outbox_id;
      const ids = page.map((row) => row.outbox_id);
      results.push(...(await askPatiently(client, ids, act.run)));
      progress.update(results.length, total);
    }
  } finally {
    progress.finish();
  }
}

function countParked(client: Client, filter: DeadFilter): Promise<number> {
  return filter.p_parked === false
    ? Promise.resolve(0)
    : call(client, "outbox.count_dead", { ...filter, p_parked: true });
}

async function confirm(act: Act, total: number, parked: number, yes: boolean): Promise<void> {
  const what = `${total} dead letter${total === 1 ? "" : "s"}`;
  const warning = parked > 0 ? act.warn(parked) : null;
  const answer = yes ? "yes" : await ask(`${capital(act.verb)} ${what}? [y/N] `, warning);
  if (answer === "yes") return;
  if (answer === "nobody") {
    throw new HeadroomError("usage", `${what} would be touched, and there is nobody to ask.`, {
      ...(warning === null ? {} : { detail: warning }),
      hint: "Pass --yes to go on without asking. Nothing was changed.",
    });
  }
  printLine("Nothing was changed.");
  throw new ExitWith(1);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function report(act: Act, results: readonly RowResult[], json: boolean): void {
  const counts: Record<string, number> = {};
  for (const { result } of results) counts[result] = (counts[result] ?? 0) + 1;
  const refused = results.filter(({ result }) => result !== act.done);
  if (json) {
    printJson({
      matched: results.length,
      results: counts,
      refused: refused.map(({ outbox_id: outboxId, result, detail }) => ({ outboxId, result, detail })),
    });
  } else {
    show(act, results, counts, refused);
  }
  if (refused.length > 0) throw new ExitWith(1);
}

function show(
  act: Act,
  results: readonly RowResult[],
  counts: Readonly<Record<string, number>>,
  refused: readonly RowResult[],
): void {
  if (results.length === 0) return printLine("No dead letters match. Nothing was changed.");
  for (const [result, count] of Object.entries(counts))
    printLine(`${String(count).padStart(7)}  ${result.replaceAll("_", " ")}`);
  for (const { outbox_id: outboxId, result, detail } of results) {
    if (result === act.done && detail !== null) printLine(`${outboxId}: ${detail}`);
  }
  if (refused.length === 0) return;
  printLine();
  printTable(refused.slice(0, shownRefusals), [
    { title: "LEFT AS IT WAS", value: (row) => row.outbox_id },
    { title: "BECAUSE", value: (row) => row.result.replaceAll("_", " ") },
    { title: "MEANING", value: (row) => row.detail },
  ]);
  if (refused.length > shownRefusals) printLine(`… and ${refused.length - shownRefusals} more (--json lists all)`);
  for (const result of new Set(refused.map((row) => row.result))) {
    const advice = result === "busy" ? busyAdvice : act.refusals[result];
    if (advice !== undefined) printLine(`${capital(result.replaceAll("_", " "))}: ${advice}`);
  }
}
