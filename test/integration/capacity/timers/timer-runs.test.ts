/**
 * Who runs the timers: every way of relaying, even where no worker and no pg_cron runs; and the record of who ran them last.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { runTimers, startTimers } from "../../../../src/capacity/timers.ts";
import { createOnDemandRelay, type OnDemandRelay } from "../../../../src/cli/relay/on-demand.ts";
import type { Rail } from "../../../../src/contract/rail.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { startHeadroom } from "../../cli/harness.ts";
import { jwtSecret, startTestGateway } from "../../http/harness.ts";
import { probeRail } from "../../outbox/relay/rails.ts";
import { until } from "../../outbox/relay/stage.ts";
import { customer, startSurfaces, type Surfaces } from "../surfaces.ts";
import { deadlineIn, nothing, quiet, spoil } from "./time.ts";
import { oneOf, rowsOf } from "../harness.ts";

interface Run {
  readonly runner: string;
  readonly login: string | null;
  readonly began_at: Date | null;
  readonly ended_at: Date | null;
  readonly seconds_ago: number | null;
  readonly failures: number;
  readonly failed_at: Date | null;
  readonly failed_code: string | null;
}

async function overdue(surfaces: Surfaces): Promise<string> {
  await quiet(surfaces);
  const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
  await deadlineIn(surfaces, id, -1);
  return id;
}

describe.each(POSTGRES_VERSIONS)("the timers' runners on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const executor = surfaces.db.as("headroom_executor");

  const runs = async (): Promise<Map<string, Run>> =>
    new Map(
      (await rowsOf<Run>(surfaces.db.as("headroom_control").pool, "select * from capacity.timers_last_ran()")).map(
        (run) => [run.runner, run],
      ),
    );
  const forgetRuns = (): Promise<unknown> =>
    rowsOf(
      surfaces.superuser,
      "update capacity.timer_runs set login = null, began_at = null, ended_at = null, failures = 0, failed_at = null, failed_code = null",
    );
  const expired = (id: string): Promise<unknown> =>
    until(
      async () => (await surfaces.row(id)).state,
      (state) => state === "EXPIRED",
      "the sweep",
    );

  function onDemand(rails: readonly Rail[], log: object[] = []): OnDemandRelay {
    const relay = createOnDemandRelay(executor.url, rails, (entry) => void log.push(entry));
    onTestFinished(() => relay.close());
    return relay;
  }

  test("a call of the relay route expires what is due, and sends its messages in the same turn", async () => {
    const id = await overdue(surfaces);
    await forgetRuns();
    const mail = probeRail({ name: "email", capability: "blind" });
    const drainer = onDemand([mail]);
    const gateway = await startTestGateway(surfaces.db, { dependencies: { drainer } });
    onTestFinished(() => gateway.stop());
    const wake = (): Promise<Response> =>
      fetch(`${gateway.url}/api/internal/outbox-relay`, {
        method: "POST",
        headers: { "x-outbox-secret": "the-relay-secret-of-all-the-tests" },
      });
    expect((await wake()).status).toBe(200);
    expect((await surfaces.row(id)).state).toBe("EXPIRED");
    expect(mail.sent.map(({ payload }) => JSON.stringify(payload))).toContainEqual(
      expect.stringContaining("no answer came in time"),
    );
    expect([...(await runs()).keys()]).toEqual(["turn"]);

    // With a webhook for each of many rows, not every call checks everything that is due.
    const next = await overdue(surfaces);
    expect((await wake()).status).toBe(200);
    expect((await surfaces.row(next)).state).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
  });

  test("a turn begins although the sweep before it hangs, and the record says that the sweep failed", async () => {
    await overdue(surfaces);
    await forgetRuns();
    const blocker = await surfaces.db.superuser.connect();
    await blocker.query("begin");
    await blocker.query("lock table capacity.timer_failures in access exclusive mode");
    const log: object[] = [];
    const mail = probeRail({ name: "email", capability: "blind" });
    const report = await onDemand([mail], log).drain({ budgetMs: 1_000 });
    await blocker.query("rollback");
    expect(report.delivered).toBe(1);
    expect(mail.sent).toHaveLength(1);
    expect(log).toContainEqual({ level: "warn", event: "timers_failed", code: "query_canceled", sqlState: "57014" });
    expect((await runs()).get("turn")).toMatchObject({
      ended_at: null,
      failed_at: expect.any(Date),
      failed_code: "57014",
    });
  });

  test("a turn without time leaves the timers alone", async () => {
    const id = await overdue(surfaces);
    await onDemand([]).drain({ budgetMs: 0 });
    expect((await surfaces.row(id)).state).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
  });

  test("a server's relay runs turns automatically, since what falls due by the clock calls no webhook", async () => {
    const id = await overdue(surfaces);
    const mail = probeRail({ name: "email", capability: "blind" });
    onDemand([mail]).keepTurning(100);
    await expired(id);
    const again = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    await until(
      () => JSON.stringify(mail.sent),
      (sent) => sent.includes(again),
      "a later turn",
    );
  });

  test("the record says who swept, when, and on how many requests a timer failed", async () => {
    const id = await overdue(surfaces);
    await forgetRuns();
    expect(await runs()).toEqual(new Map());
    const repair = await spoil(surfaces, id);
    await runTimers(executor.pool, { runner: "worker" });
    await repair();
    await runTimers(executor.pool);
    const [{ now }] = (await rowsOf<{ now: Date }>(surfaces.superuser, "select clock_timestamp() as now")) as [
      { now: Date },
    ];
    const { worker, call } = Object.fromEntries(await runs());
    expect(worker).toMatchObject({ login: expect.stringContaining("executor"), failures: 1, failed_at: null });
    expect(call).toMatchObject({ failures: 0 });
    for (const run of [worker, call]) {
      expect(run?.began_at?.getTime()).toBeLessThanOrEqual(run?.ended_at?.getTime() ?? 0);
      expect(run?.ended_at?.getTime()).toBeLessThanOrEqual(now.getTime());
      expect(run?.seconds_ago).toBeGreaterThanOrEqual(0);
    }
    await rowsOf(executor.pool, "select public.run_capacity_request_timers(p_runner => 'somebody else')");
    const kept = await oneOf<{ n: number }>(surfaces.superuser, "select count(*)::int as n from capacity.timer_runs");
    expect(kept.n).toBe(5);
  });

  test("nobody waits for the record: a sweep in a transaction that stays open holds up no other", async () => {
    await quiet(surfaces);
    const [one, other] = await surfaces.db.twoConnections("headroom_executor");
    await one.query("begin");
    expect(await runTimers(one)).toEqual(nothing);
    expect(await runTimers(other)).toEqual(nothing);
    await one.query("rollback");
  });

  test("a worker records that a whole sweep failed", async () => {
    await quiet(surfaces);
    await forgetRuns();
    await rowsOf(surfaces.superuser, "alter function capacity.timer_warn(integer) rename to timer_warn_elsewhere");
    const log: object[] = [];
    const timers = startTimers({ connectionString: executor.url, log: (entry) => void log.push(entry) });
    const failed = await until(
      async () => (await runs()).get("worker"),
      (run) => run !== undefined,
      "the note",
    );
    await timers.stop();
    await rowsOf(surfaces.superuser, "alter function capacity.timer_warn_elsewhere(integer) rename to timer_warn");
    expect(failed).toMatchObject({ ended_at: null, failed_code: "42883" });
    expect(log).toMatchObject([{ event: "timers_failed", sqlState: "42883" }]);
  });

  test("headroom serve sweeps automatically, with nothing but its gateway's login", async () => {
    const id = await overdue(surfaces);
    await forgetRuns();
    const server = startHeadroom(["serve", "--port", "0", "--json"], {
      env: { HEADROOM_GATEWAY_URL: surfaces.db.as("authenticator").url, HEADROOM_JWT_SECRET: jwtSecret },
    });
    await server.line((line) => line.includes("timers_ran"));
    await expired(id);
    expect((await runs()).get("server")).toMatchObject({ login: "authenticator", failed_at: null });
    expect((await server.end("SIGTERM")).status).toBe(0);
  });
});
