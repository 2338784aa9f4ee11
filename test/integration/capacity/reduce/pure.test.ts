/**
 * Decisions depend only on what was read, and are written in one place: the functions that judge read nothing, nor does anything they call,
 * and only the reducer writes the log and its projection.
 *
 * Checks the functions' source in the database, since Postgres does not check what a function is declared to be.
 */
import { expect, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { rowsOf } from "../harness.ts";

const db = await createTestDatabase({ version: 18 });

interface Written {
  readonly name: string;
  readonly volatility: string;
  readonly text: string;
}

const functions = await rowsOf<Written>(
  db.superuser.pool,
  `select n.nspname || '.' || p.proname as name, p.provolatile as volatility,
          regexp_replace(regexp_replace(lower(p.prosrc), '--[^\n]*', '', 'g'), '''[^'']*''', '''''', 'g') as text
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.proowner = 'headroom_owner'::regrole order by 1`,
);
const byName = Map.groupBy(functions, ({ name }) => name);

/** The functions, and everything that they call. */
function withCalled(names: readonly string[]): Written[] {
  const found = new Set<Written>();
  const follow = (name: string): void => {
    for (const one of byName.get(name) ?? []) {
      if (found.has(one)) continue;
      found.add(one);
      for (const [, called = ""] of one.text.matchAll(/\b([a-z_]+\.[a-z_0-9]+) ?\(/g)) follow(called);
    }
  };
  names.forEach(follow);
  return [...found];
}

const judges = ["capacity.judge", "capacity.authorize", "capacity.may_read", "capacity.next_state"];
const folds = ["capacity.compute_next_state", "capacity.project", "capacity.event_hash"];
/** Tables and views are named with their schemas; a clock, a setting or a random number would also be a read. */
const looksUp =
  /\b(?<!epoch )(from|join|into|update|using|table) +(only +)?[a-z_]+\.[a-z_]+\b(?! ?\()|\b(clock_timestamp|statement_timestamp|now|current_setting|set_config|random|gen_random_uuid|nextval)\(|\bcurrent_(date|time|timestamp|user|role)\b|\bsession_user\b|\bexecute\b/;

test.each([...judges, ...folds])("%s and the functions it calls read nothing, and are declared so", (name) => {
  const called = withCalled([name]);
  expect(called.map((one) => one.name)).toContain(name);
  // The search stops at a refusal: looking up its text decides nothing.
  const decides = called.filter((one) => !withCalled(["headroom.refuse"]).includes(one));
  expect(decides.filter(({ volatility }) => volatility !== "i").map((one) => one.name)).toEqual([]);
  expect(decides.filter(({ text }) => looksUp.test(text)).map((one) => one.name)).toEqual([]);
});

test("judging raises no refusal itself: it returns one, and the writer raises it", () => {
  expect(withCalled(judges).map(({ name }) => name)).not.toContain("headroom.fail");
});

test.each([
  ["insert into", "capacity.events", ["capacity.apply"]],
  ["update", "capacity.events", []],
  ["delete from", "capacity.events", []],
  // The row of a submission, which its first event fills.
  ["insert into", "capacity.requests", ["capacity.submit"]],
  ["update", "capacity.requests", ["capacity.apply"]],
  ["delete from", "capacity.requests", []],
])("of all functions that %s %s there are these", (verb, table, writers) => {
  const writes = new RegExp(`\\b${verb.replace(" ", " +")} +(only +)?${table.replace(".", "\\.")}\\b`);
  expect(functions.filter(({ text }) => writes.test(text)).map(({ name }) => name)).toEqual(writers);
});

test("deciding never uses the row-level security reader", () => {
  const decides = withCalled(["capacity.decide", "capacity.decide_as_caller", "inbound.decide"]);
  expect(decides.map(({ name }) => name).filter((name) => /^directory\.(resolve_)?reader/.test(name))).toEqual([]);
});
