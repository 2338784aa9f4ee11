/**
 * Counts what a piece of work causes: from the server's own statistics before and after, and from the messages to the driver in between.
 *
 * Does not own: the work itself, or that it runs on connections that `flush` knows. A backend reports its function counts with a delay.
 */
import type { Client } from "pg";
import { countRoundTrips } from "./round-trips.ts";
import { statementKind, type StatementKind } from "./statement-kind.ts";

export interface Passed {
  /** How often each function was called. A function that the planner inlined does not appear. */
  readonly functions: Readonly<Record<string, number>>;
  readonly statements: readonly { readonly kind: StatementKind; readonly calls: number; readonly text: string }[];
  /** Messages to the database that were waited for. */
  readonly roundTrips: number;
}

/** Makes every backend that took part report its counts. */
export type Flush = () => Promise<unknown>;

export class Meter {
  readonly #observer: Client;
  readonly #flush: Flush;

  constructor(observer: Client, flush: Flush) {
    this.#observer = observer;
    this.#flush = flush;
  }

  async count(work: () => Promise<unknown>): Promise<Passed> {
    await this.#flush();
    const before = await this.#functions();
    await this.#observer.query("select walk.pg_stat_statements_reset()");
    const trips = countRoundTrips();
    try {
      await work();
    } finally {
      trips.stop();
    }
    const statements = await this.#statements();
    await this.#flush();
    const after = await this.#functions();
    const functions = [...after].flatMap(([name, calls]) => {
      const more = calls - (before.get(name) ?? 0);
      return more === 0 ? [] : [[name, more] as const];
    });
    return { functions: Object.fromEntries(functions), statements, roundTrips: trips.count() };
  }

  async #functions(): Promise<Map<string, number>> {
    const { rows } = await this.#observer.query<{ name: string; calls: number }>(
      `select schemaname || '.' || funcname as name, sum(calls)::integer as calls
         from pg_stat_user_functions where schemaname <> 'walk' group by 1 order by 1`,
    );
    return new Map(rows.map(({ name, calls }) => [name, calls]));
  }

  async #statements(): Promise<Passed["statements"]> {
    const { rows } = await this.#observer.query<{ text: string; is_top_level: boolean; calls: number }>(
      `select regexp_replace(btrim(query, E' \\n'), '\\s+', ' ', 'g') as text, toplevel as is_top_level, sum(calls)::integer as calls
         from walk.pg_stat_statements group by 1, 2 order by 1, 2`,
    );
    return rows.map(({ text, is_top_level: isTopLevel, calls }) => ({
      kind: statementKind(text, isTopLevel),
      calls,
      text,
    }));
  }
}
