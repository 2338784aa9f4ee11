/** What a task that fails, hangs or is cut off does to itself and to the others, and when each runs. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { Queryable } from "../../../../src/db/call.ts";
import { createPool } from "../../../../src/db/connect.ts";
import { SidePool } from "../../../../src/db/side-pool.ts";
import type { RelayLogEntry } from "../../../../src/outbox/index.ts";
import { TaskMetrics } from "../../../../src/outbox/observe/task-metrics.ts";
import type { Task } from "../../../../src/outbox/upkeep/task.ts";
import { Ticker } from "../../../../src/outbox/upkeep/ticker.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { rowsOf } from "../queries.ts";
import { until } from "../relay/stage.ts";

const db = await createTestDatabase();
const superuser = db.superuser.pool;

interface Started {
  readonly ticker: Ticker;
  readonly log: RelayLogEntry[];
  readonly name: string;
  readonly side: SidePool;
  readonly metric: (name: string, of: string) => Promise<number>;
}

let made = 0;

function prepare(tasks: readonly Task[], { atOnce = 2, stopMs = 5_000 } = {}): Started {
  const name = `ticker ${(made += 1)}`;
  const pool = createPool(db.as("headroom_executor").url, { applicationName: name, maxConnections: atOnce });
  const side = new SidePool(pool, { tasks: atOnce, reads: 0 });
  const log: RelayLogEntry[] = [];
  const metrics = new TaskMetrics();
  const ticker = new Ticker({
    tasks,
    lend: side.lend,
    everyMs: 10,
    stopMs,
    metrics,
    log: (entry) => void log.push(entry),
  });
  onTestFinished(async () => {
    await ticker.stop();
    await side.end();
  });
  return {
    ticker,
    log,
    name,
    side,
    metric: async (metric, of) => {
      const line = `headroom_task_${metric}{task="${of}"} `;
      const found = (await metrics.render()).split("\n").find((each) => each.startsWith(line));
      return Number(found?.slice(line.length) ?? "nothing");
    },
  };
}

function start(...given: Parameters<typeof prepare>): Started {
  const started = prepare(...given);
  started.ticker.start();
  return started;
}

/** Counts its runs, and does what it is told in each. */
function task(name: string, work?: (run: number, connection: Queryable) => Promise<unknown>, more?: Partial<Task>) {
  const counted = {
    runs: 0,
    name,
    async run(connection) {
      counted.runs += 1;
      await work?.(counted.runs, connection);
    },
    ...more,
  } satisfies Task & { runs: number };
  return counted;
}

const ranMore = (counted: { readonly runs: number }, times = 3): Promise<number> => {
  const before = counted.runs;
  return until(
    () => counted.runs,
    (runs) => runs >= before + times,
    "further runs",
  );
};

/** Another session holds what `wait` waits for. */
async function hold(): Promise<{ wait(connection: Queryable): Promise<unknown>; release(): Promise<void> }> {
  const key = (made += 1);
  const holder = await db.superuser.connect();
  await holder.query("select pg_advisory_lock(729, $1)", [key]);
  return {
    wait: (connection) => connection.query({ text: "select pg_advisory_xact_lock(729, $1)", values: [key] }),
    async release() {
      await holder.query("select pg_advisory_unlock(729, $1)", [key]);
    },
  };
}

const waiting = (name: string) => async () =>
  (
    await rowsOf(superuser, "select from pg_stat_activity where application_name = $1 and wait_event = 'advisory'", [
      name,
    ])
  ).length;

describe("a task that hangs", () => {
  test("is ended by the server and runs again; the others continue in parallel", async () => {
    const lock = await hold();
    const hung = task("hung", (_run, connection) => lock.wait(connection), {
      timeoutMs: 50,
    });
    const other = task("other");
    const { log, metric } = start([hung, other]);
    await ranMore(hung);
    await ranMore(other);
    await lock.release();
    await until(
      () => log,
      (entries) => entries.some(({ event }) => event === "upkeep_recovered"),
      "it to succeed",
    );
    // Logged once, however often it failed.
    expect(log).toEqual([
      { level: "warn", event: "upkeep_failed", what: "hung", code: "query_canceled", sqlState: "57014" },
      { level: "info", event: "upkeep_recovered", what: "hung", code: "57014" },
    ]);
    expect(await metric("failures_total", "hung")).toBeGreaterThanOrEqual(2);
    expect(await metric("failures_total", "other")).toBe(0);
    expect(await metric("duration_seconds_total", "hung")).toBeGreaterThan(0.05);
  });

  test("does not starve the others where there is one connection for all", async () => {
    const lock = await hold();
    const hung = task("hung", (_run, connection) => lock.wait(connection), {
      timeoutMs: 50,
    });
    const others = [task("one"), task("two")];
    start([hung, ...others], { atOnce: 1 });
    for (let turn = 0; turn < 2; turn += 1) {
      await ranMore(hung, 1);
      for (const other of others) await ranMore(other, 1);
    }
    await lock.release();
  });
});

test("a task that throws each time is logged once for each kind of failure, holds up no other, and is counted", async () => {
  const notes: string[] = [];
  const broken = task(
    "broken",
    (run, connection) =>
      connection.query({ text: run < 4 ? "select 1 / 0" : run < 8 ? "select no_such_function()" : "select 1" }),
    { noteFailure: async (_db, code) => void notes.push(code), failedEvent: "broken_down" },
  );
  const other = task("other");
  const { log, metric } = start([broken, other]);
  await until(
    () => log,
    (entries) => entries.length === 3,
    "it to fail in two ways and to recover",
  );
  await ranMore(other);
  expect(log.map(({ event, sqlState }) => [event, sqlState])).toEqual([
    ["broken_down", "22012"],
    ["broken_down", "42883"],
    ["upkeep_recovered", undefined],
  ]);
  expect(notes).toEqual([...Array.from({ length: 3 }, () => "22012"), ...Array.from({ length: 4 }, () => "42883")]);
  expect(await metric("failures_total", "broken")).toBe(7);
  expect(await metric("runs_total", "broken")).toBeGreaterThanOrEqual(8);
  expect(await metric("last_success_timestamp_seconds", "broken")).toBeGreaterThan(1.7e9);
});

test("a task that never succeeded has no time of success, and its counters are there from the start", async () => {
  const { metric } = prepare([task("new")]);
  expect(await metric("runs_total", "new")).toBe(0);
  expect(await metric("failures_total", "new")).toBe(0);
  expect(await metric("last_success_timestamp_seconds", "new")).toBeNaN();
});

test("an unreachable database is waited for: each task continues automatically, and it is logged once", async () => {
  const tasks = [task("one", (_run, connection) => connection.query({ text: "select 1" })), task("two")];
  const { log, name } = start(tasks);
  await ranMore(tasks[0]!);
  const limit = (most: number): Promise<unknown> =>
    superuser.query(
      `do $$ begin execute format('alter database %I connection limit ${most}', current_database()); end $$`,
    );
  await limit(0);
  await superuser.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", [name]);
  await until(
    () => log,
    (entries) => entries.some(({ code }) => code === "too_many_connections"),
    "it to be away",
  );
  await limit(-1);
  for (const each of tasks) await ranMore(each);
  await until(
    () => log.filter(({ event }) => event === "upkeep_recovered").length,
    (count) => count >= 1,
    "it to be back",
  );
  for (const { name: what } of tasks) {
    const ways = log.filter((entry) => entry["what"] === what && entry.level === "warn").map(({ code }) => code);
    expect(ways.length).toBeLessThanOrEqual(2);
  }
});

test("a stop lets a running task finish, and starts no other", async () => {
  const lock = await hold();
  const slow = task("slow", (_run, connection) => lock.wait(connection));
  const { ticker, name } = start([slow]);
  await until(waiting(name), (count) => count === 1, "the run");
  const stopped = ticker.stop();
  await lock.release();
  await stopped;
  expect(slow.runs).toBe(1);
});

test("a stop waits no longer than its limit for a run that hangs, and its work is rolled back", async () => {
  const lock = await hold();
  await superuser.query("create table public.marks (n integer); grant all on public.marks to public");
  const hung = task("hung", async (_run, connection) => {
    await connection.query({ text: "insert into public.marks values (1)" });
    await lock.wait(connection);
  });
  const { ticker, name, side, log } = start([hung], { stopMs: 20 });
  await until(waiting(name), (count) => count === 1, "the run");
  await ticker.stop();
  side.close();
  await lock.release();
  await until(
    () => rowsOf(superuser, "select from pg_stat_activity where application_name = $1", [name]),
    (sessions) => sessions.length === 0,
    "the session to end",
  );
  expect(await rowsOf(superuser, "select from public.marks")).toEqual([]);
  expect(log).toEqual([]);
});

test("two tasks that are due together over one connection run one after the other, step by step in turn", async () => {
  const order: string[] = [];
  let running = 0;
  const stepping = (name: string): Task => ({
    name,
    everyMs: 60_000,
    event: { level: "info", event: `${name}_done` },
    async run(connection) {
      expect((running += 1)).toBe(1);
      await connection.query({ text: "select 1" });
      running -= 1;
      order.push(name);
      return { counts: { rows: 1 }, more: order.filter((each) => each === name).length < 3 };
    },
  });
  const { log } = start([stepping("a"), stepping("b")], { atOnce: 1 });
  await until(
    () => log.length,
    (count) => count === 2,
    "both",
  );
  expect(order).toEqual(["a", "b", "a", "b", "a", "b"]);
  expect(log).toEqual([
    { level: "info", event: "a_done", rows: 3 },
    { level: "info", event: "b_done", rows: 3 },
  ]);
});

test("a task says when it is due again, within its bounds, and one that takes long rests accordingly", async () => {
  const early = task("early", undefined, { everyMs: 20, maxEveryMs: 60_000 });
  const soon: Task = {
    ...early,
    async run(...given) {
      await early.run(...given);
      return { nextInMs: 0 };
    },
  };
  const late = task("late", undefined, { everyMs: 20, maxEveryMs: 60_000 });
  const greedy = task(
    "greedy",
    (_run, connection) => connection.query({ text: "select count(*) from generate_series(1, 300000)" }),
    {
      share: 0.001,
    },
  );
  start([soon, late, greedy]);
  await ranMore(early, 5);
  expect(late.runs).toBe(1);
  expect(greedy.runs).toBe(1);
});

test("a run is committed step by step, and each step sees the ones before it", async () => {
  const { name: table } = { name: "public.steps" };
  await superuser.query(`create table ${table} (n integer); grant all on ${table} to public`);
  const countRows = async (): Promise<number> => (await rowsOf(superuser, `select from ${table}`)).length;
  const seen: number[] = [];
  const seenAfter: Promise<number>[] = [];
  const steps: Task = {
    name: "steps",
    everyMs: 60_000,
    async run(connection) {
      seen.push(await countRows());
      const { rows } = await connection.query({
        text: `insert into ${table} select count(*) from ${table} returning n`,
      });
      const [{ n }] = rows as [{ n: number }];
      if (n === 2) throw new Error("the third step fails");
      return { counts: { rows: 1 }, more: true };
    },
    done: () => void seenAfter.push(countRows()),
    event: { level: "info", event: "stepped" },
  };
  const { log } = start([steps]);
  await until(
    () => log.length,
    (count) => count === 2,
    "it to fail",
  );
  expect(seen).toEqual([0, 1, 2]);
  // The next step may be committed before this is read.
  expect(await Promise.all(seenAfter)).toEqual([expect.toSatisfy((rows) => rows >= 1), 2]);
  expect(log.find(({ event }) => event === "stepped")).toMatchObject({ rows: 2 });
});

describe("turns of a relay on demand", () => {
  const { signal } = new AbortController();

  test("are preceded by their first tasks, in order and no more often than allowed, and sometimes followed by the others", async () => {
    const order: string[] = [];
    const named = (name: string, more?: Partial<Task>): Task => ({
      ...task(name, async () => void order.push(name)),
      ...more,
    });
    const bounds = { everyMs: 60_000, share: 0.5, maxMs: 5_000 };
    const { ticker } = prepare([
      named("after"),
      named("first", { beforeTurns: bounds }),
      named("second", { beforeTurns: { ...bounds, everyMs: 0 } }),
    ]);
    for (let turn = 0; turn < 2; turn += 1) {
      await ticker.beforeTurn({ budgetMs: 1_000, signal });
      order.push("turn");
      await ticker.afterTurn(performance.now() + 1_000);
    }
    expect(order).toEqual(["first", "second", "turn", "after", "second", "turn"]);
  });

  test("begin although what comes before hangs; without time nothing comes before, and after the deadline nothing follows", async () => {
    const lock = await hold();
    const hung = task("hung", (_run, connection) => lock.wait(connection), {
      beforeTurns: { everyMs: 0, share: 0.5, maxMs: 50 },
    });
    const after = task("after");
    const { ticker, log } = prepare([hung, after]);
    await ticker.beforeTurn({ budgetMs: 0, signal });
    expect(hung.runs).toBe(0);
    await ticker.beforeTurn({ budgetMs: 1_000, signal });
    await ticker.afterTurn(performance.now() - 1);
    expect([hung.runs, after.runs]).toEqual([1, 0]);
    expect(log).toMatchObject([{ event: "upkeep_failed", sqlState: "57014" }]);
    await lock.release();
  });

  test("begin although tasks of somebody else hang on all connections; what did not get one does nothing later", async () => {
    const lock = await hold();
    const before = task("before", undefined, { beforeTurns: { everyMs: 0, share: 0.5, maxMs: 100 } });
    const [named, after] = [task("named"), task("after")];
    const { ticker, log, side, name } = prepare([before, named, after], { atOnce: 1 });
    const hung = side.lend((connection) => lock.wait(connection), 60_000);
    await until(waiting(name), (count) => count === 1, "the connection to be in use");
    await ticker.beforeTurn({ budgetMs: 1_000, signal });
    await ticker.run("named", { onDemand: true });
    await ticker.afterTurn(performance.now() + 10_000);
    await lock.release();
    await hung;
    // Who asked first gets the connection first.
    await side.lend(() => Promise.resolve(), 1_000);
    expect([before.runs, named.runs, after.runs]).toEqual([0, 0, 0]);
    expect(log).toEqual(
      ["before", "named", "after"].map((what) => ({
        level: "warn",
        event: "upkeep_failed",
        what,
        code: "connections_busy",
        sqlState: undefined,
      })),
    );
  });
});
