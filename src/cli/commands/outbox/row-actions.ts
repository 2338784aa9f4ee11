/**
 * What `redrive`, `skip`, `retry-now` and `resolve` have in common: the actor and the reason, the choice of rows, the confirmation, the
 * progress and the counts at the end.
 *
 * Owns: the dialogue and the paging. Does not own: what an action does to a row, which the SQL decides.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Client } from "pg";
import { call } from "../../../db/call.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { ask } from "../../ask.ts";
import { withDatabase } from "../../database.ts";
import { ExitWith } from "../../exit.ts";
import { readClock } from "../../words/moment.ts";
import { addCommon, parseText, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, startProgress } from "../../output.ts";
import { addFilters, hasFilter, toFilter, type DeadFilter, type FilterOptions } from "./filters.ts";

export interface OperatorOptions extends CommonOptions, ActorOption {
  readonly reason: string;
}

export interface ManyOptions extends OperatorOptions {
  readonly all?: boolean;
  readonly yes?: boolean;
}

export type BulkOptions = ManyOptions & FilterOptions;

export function addOperator(command: Command): Command {
  return addCommon(
    command
      .requiredOption("--reason <text>", "why; it is recorded in the archive", parseText(2_000))
      .addOption(actorOption()),
  );
}

export function addBulk(command: Command): Command {
  return addMany(addFilters(command), "all dead letters");
}

export function addMany(command: Command, all: string): Command {
  return addOperator(command).option("--all", all).option("--yes", "do not ask for confirmation");
}

/** The rows that a filter finds: how they are named, counted and paged through. */
export interface Matches {
  /** "3 dead letters" */
  readonly words: (count: number) => string;
  readonly isFiltered: boolean;
  /** The options that filter, for the hint if none was given. */
  readonly filters: string;
  readonly count: (client: Client) => Promise<number>;
  /** A warning that is shown before the question. */
  readonly warn: (client: Client) => Promise<string | null>;
  readonly page: (client: Client, limit: number, after: string | null) => Promise<readonly { outbox_id: string }[]>;
}

export interface RowResult {
  readonly outbox_id: string;
  readonly result: string;
  readonly detail: string | null;
}

export interface RowAction {
  /** As in "Redrive 12 dead letters?" */
  readonly verb: string;
  readonly noun: string;
  /** The result that means success. */
  readonly done: string;
  /** For each other result: why the row was not changed, and what to do. */
  readonly refusals: Readonly<Record<string, string>>;
  readonly run: (client: Client, outboxIds: readonly string[]) => Promise<readonly RowResult[]>;
}

const chunkRows = 500;
/** A key that another session holds is usually free again in a moment, so busy rows are tried this often. */
const busyRounds = 10;
const busyPauseMs = 100;
export const busyHint = "Find the transaction that stays open, then run this again.";
/** How many rows that were not changed are shown; --json has all. */
const shownRefusals = 20;

export async function actOn(
  action: RowAction,
  ids: readonly string[],
  options: ManyOptions,
  matches: Matches,
): Promise<void> {
  requireRows(action, ids, options, matches);
  const results = await withDatabase(options, `outbox ${action.verb}`, async (client) => {
    if (ids.length > 0) return actOnIds(action, client, ids);
    return actOnMatches(action, client, matches, options.yes === true);
  });
  report(action, results, options.json === true, matches);
}

function requireRows(action: RowAction, ids: readonly string[], options: ManyOptions, matches: Matches): void {
  const ways = [ids.length > 0, matches.isFiltered, options.all === true].filter(Boolean).length;
  if (ways === 1) return;
  throw new HeadroomError(
    "usage",
    ways === 0 ? `No rows were given to ${action.verb}.` : "Ids, a filter and --all cannot be used together.",
    { hint: `Give ids, or a filter (${matches.filters}), or --all. Nothing was changed.` },
  );
}

async function actOnIds(action: RowAction, client: Client, ids: readonly string[]): Promise<RowResult[]> {
  const results: RowResult[] = [];
  const progress = startProgress(action.noun);
  try {
    for (let start = 0; start < ids.length; start += chunkRows) {
      results.push(...(await retryBusy(client, ids.slice(start, start + chunkRows), action.run)));
      progress.update(results.length, ids.length);
    }
  } finally {
    progress.finish();
  }
  return results;
}

/** Repeats the busy rows, for about a second. */
export async function retryBusy(client: Client, ids: readonly string[], run: RowAction["run"]): Promise<RowResult[]> {
  const results = new Map<string, RowResult>();
  let asked = ids;
  for (let round = 0; asked.length > 0; round += 1) {
    for (const result of await run(client, asked)) results.set(result.outbox_id, result);
    asked = round === busyRounds ? [] : asked.filter((id) => results.get(id)?.result === "busy");
    if (asked.length > 0) await sleep(busyPauseMs);
  }
  return [...results.values()];
}

async function actOnMatches(action: RowAction, client: Client, matches: Matches, yes: boolean): Promise<RowResult[]> {
  const total = await matches.count(client);
  if (total === 0) return [];
  await confirm(action, matches.words(total), yes ? null : await matches.warn(client), yes);
  const results: RowResult[] = [];
  const progress = startProgress(action.noun);
  try {
    for (let after: string | null = null; ;) {
      const page = await matches.page(client, chunkRows, after);
      const last = page.at(-1);
      if (last === undefined) return results;
      after = last.outbox_id;
      const ids = page.map((row) => row.outbox_id);
      results.push(...(await retryBusy(client, ids, action.run)));
      progress.update(results.length, total);
    }
  } finally {
    progress.finish();
  }
}

/** `warn`: the warning about the parked ones among them. */
export function deadLetters(options: BulkOptions, warn: (parked: number) => string): Matches {
  let chosen: DeadFilter | undefined;
  /** Rows that are given up while this runs were not counted and must not be changed: one may have just been redriven. */
  const filterAt = async (client: Client): Promise<DeadFilter> => {
    if (chosen !== undefined) return chosen;
    const now = await readClock(client);
    const given = toFilter(options, now);
    chosen = given.p_to !== undefined && given.p_to < now ? given : { ...given, p_to: now };
    return chosen;
  };
  return {
    words: (count) => `${count} dead letter${count === 1 ? "" : "s"}`,
    isFiltered: hasFilter(options),
    filters: "--stream, --code, --from, --to, --parked",
    count: async (client) => call(client, "outbox.count_dead", await filterAt(client)),
    async warn(client) {
      const filter = await filterAt(client);
      if (filter.p_parked === false) return null;
      const parked = await call(client, "outbox.count_dead", { ...filter, p_parked: true });
      return parked > 0 ? warn(parked) : null;
    },
    page: async (client, limit, after) =>
      call(client, "outbox.list_dead", { ...(await filterAt(client)), p_limit: limit, p_after: after }),
  };
}

async function confirm(action: RowAction, what: string, warning: string | null, yes: boolean): Promise<void> {
  const answer = yes ? "yes" : await ask(`${capital(action.verb)} ${what}? [y/N] `, warning);
  if (answer === "yes") return;
  if (answer === "nobody") {
    throw new HeadroomError(
      "usage",
      `This would ${action.verb} ${what}, and there is no terminal to ask for confirmation.`,
      {
        ...(warning === null ? {} : { detail: warning }),
        hint: "Pass --yes to do it without asking. Nothing was changed.",
      },
    );
  }
  printLine("Nothing was changed.");
  throw new ExitWith(1);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function report(action: RowAction, results: readonly RowResult[], json: boolean, matches: Matches): void {
  const counts: Record<string, number> = {};
  for (const { result } of results) counts[result] = (counts[result] ?? 0) + 1;
  const refused = results.filter(({ result }) => result !== action.done);
  if (json) {
    printJson({
      matched: results.length,
      results: counts,
      refused: refused.map(({ outbox_id: outboxId, result, detail }) => ({ outboxId, result, detail })),
    });
  } else {
    show(action, results, counts, refused, matches);
  }
  if (refused.length > 0) throw new ExitWith(1);
}

function show(
  action: RowAction,
  results: readonly RowResult[],
  counts: Readonly<Record<string, number>>,
  refused: readonly RowResult[],
  matches: Matches,
): void {
  if (results.length === 0) return printLine(`${matches.words(0).replace("0", "No")} match. Nothing was changed.`);
  for (const [result, count] of Object.entries(counts))
    printLine(`${String(count).padStart(7)}  ${result.replaceAll("_", " ")}`);
  for (const { outbox_id: outboxId, result, detail } of results) {
    if (result === action.done && detail !== null) printLine(`${outboxId}: ${detail}`);
  }
  if (refused.length === 0) return;
  printLine();
  printTable(refused.slice(0, shownRefusals), [
    { title: "NOT CHANGED", value: (row) => row.outbox_id },
    { title: "BECAUSE", value: (row) => row.result.replaceAll("_", " ") },
    { title: "MEANING", value: (row) => row.detail },
  ]);
  if (refused.length > shownRefusals) printLine(`… and ${refused.length - shownRefusals} more (--json lists all)`);
  for (const result of new Set(refused.map((row) => row.result))) {
    const advice = result === "busy" ? `another session holds its key. ${busyHint}` : action.refusals[result];
    if (advice !== undefined) printLine(`${capital(result.replaceAll("_", " "))}: ${advice}`);
  }
}
