/** `headroom doctor` says what is wrong, and how to fix it. */
import { expect, test } from "vitest";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";
import { checkGateway } from "../../../../src/cli/commands/doctor/gateway-checks.ts";
import { checkJit } from "../../../../src/cli/commands/doctor/jit-check.ts";
import { checkServerLog } from "../../../../src/cli/commands/doctor/server-log-check.ts";
import { createEmptyDatabase, createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { probeRail } from "../../outbox/relay/rails.ts";
import { createStage, until } from "../../outbox/relay/stage.ts";
import { headroom } from "../harness.ts";

// With partitions as far ahead as a healthy installation has them.
const stage = await createStage({ template: "whole" });

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

async function doctor(
  url: string,
): Promise<{ status: number | null; ok: boolean; findings: ReadonlyMap<string, Finding> }> {
  const outcome = await headroom(["doctor", "--json", "--database-url", url]);
  const answer = JSON.parse(outcome.out) as { ok: boolean; findings: Finding[] };
  return {
    status: outcome.status,
    ok: answer.ok,
    findings: new Map(answer.findings.map((each) => [each.check, each])),
  };
}

test("a healthy installation: every line is ok, and so is the exit code", async () => {
  await stage.run({ rails: [probeRail()], streams: [] });
  await until(
    () => stage.query("select from outbox.partition_status() where days_ahead < 20"),
    (rows) => rows.length === 0,
    "partitions ahead",
  );
  const { status, ok, findings } = await doctor(stage.db.url);
  expect([...findings.values()].filter((finding) => finding.status !== "ok")).toEqual([]);
  expect([...findings.keys()]).toEqual([
    "database",
    "version",
    "writable",
    "pooler",
    "wake-up",
    "clock",
    "roles",
    "schema",
    "ownership",
    "extensions",
    "server log",
    "jit",
    "gateway",
    "workspaces",
    "timers",
    "notifications",
    "partitions",
    "relays",
    "rails",
    "grants",
    "settings",
    "endpoints",
    "pending",
    "leases",
    "dead letters",
    "destinations",
    "locks",
    "slack",
    "linear",
    "mail",
    "github",
    "stripe",
  ]);
  expect({ status, ok }).toEqual({ status: 0, ok: true });
  const plain = await headroom(["doctor", "--database-url", stage.db.url]);
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out).toContain("All is well.");
});

test.each(["headroom_executor", "headroom_auditor", "headroom_control"] as const)(
  "as %s, which may not see everything: it checks what it may see, and names who may see the rest",
  async (role) => {
    const { status, findings } = await doctor(stage.db.as(role).url);
    const all = [...findings.values()];
    expect(all.filter((finding) => finding.status === "failure")).toEqual([]);
    expect(status).toBe(0);
    expect(findings.get("pending")).toMatchObject({ status: "ok" });
    expect(findings.get("locks")).toMatchObject({ status: "ok" });
    const left = all.filter((finding) => finding.status === "skipped");
    expect(left.map(({ check }) => check)).toEqual(expect.arrayContaining(["schema", "ownership"]));
    for (const { remedy } of left)
      expect(remedy).toMatch(/as a member of headroom_control|as the role that runs headroom migrate/);
  },
);

test("an empty database: says to migrate, and stops there", async () => {
  await using empty = await createEmptyDatabase();
  const { status, findings } = await doctor(empty.url);
  expect(status).toBe(1);
  const failed = [...findings.values()].filter((finding) => finding.status === "failure");
  expect(failed.map((finding) => finding.remedy)).toEqual(["Run: headroom migrate"]);
  expect(findings.has("relays")).toBe(false);
});

test("a session that has locked what others need: who it is, what it holds up, and how to end it", async () => {
  const [hung, waiting] = await stage.db.twoConnections("postgres");
  await hung.query("set application_name = 'hung program'; begin; select headroom.take_turn('outbox.gc')");
  await waiting.query("begin");
  const blocked = waiting.query("select headroom.take_turn('outbox.gc')");
  await stage.db.waitUntilBlocked(waiting);
  const { findings } = await doctor(stage.db.as("headroom_control").url);
  const remedy: unknown = expect.stringContaining(`select pg_terminate_backend(${hung.pid})`);
  expect(findings.get("locks")).toMatchObject({ status: "warning", remedy });
  const message = findings.get("locks")?.message;
  expect(message).toContain(`Session ${hung.pid} (login postgres, application "hung program") has a transaction open.`);
  expect(message).toContain("1 session waits for it, the first since ");
  await hung.query("commit; begin; select headroom.take_turn('another')");
  await blocked;
  expect((await doctor(stage.db.url)).findings.get("locks")?.message).toContain("locked the turn outbox.gc,");
  await hung.query("rollback");
  await waiting.query("rollback");
  expect((await doctor(stage.db.url)).findings.get("locks")).toMatchObject({ status: "ok" });
  await Promise.all([hung.end(), waiting.end()]);
});

test("rows that wait for the grant of a rail: which, and the grant", async () => {
  await stage.declare(probeRail({ name: "once-free" }));
  const stream = await stage.stream();
  const [row] = await stage.query<{ id: string }>(
    "select outbox_id as id from outbox.enqueue($1, 'k', 'i', 'x', 'once-free', '{}')",
    [stream],
  );
  await stage.db.superuser.pool.query("update outbox.rails set guarded = true where name = 'once-free'");
  const grants = async () => (await doctor(stage.db.as("headroom_control").url)).findings.get("grants");
  const grant = `select outbox.grant_rail('${stream}', 'once-free')`;
  expect(await grants()).toMatchObject({
    status: "warning",
    message: expect.stringContaining(`1 row of stream "${stream}" on rail "once-free"`),
    remedy: expect.stringContaining(grant),
  });
  expect((await headroom(["outbox", "inspect", row!.id, "--database-url", stage.db.url])).out).toContain(grant);
  await stage.db.superuser.pool.query(grant);
  expect(await grants()).toMatchObject({ status: "ok" });
});

test("what an operator has set, next to what is registered, and how to go back", async () => {
  const settings = async () => (await doctor(stage.db.as("headroom_control").url)).findings.get("settings");
  const run = (...parameters: string[]) => headroom(["outbox", ...parameters, "--database-url", stage.db.url]);
  expect(await settings()).toMatchObject({
    status: "ok",
    message: expect.stringContaining("as this release registers"),
  });
  await run("stream", "capacity", "--max-tries", "30", "--backoff-base-ms", "5000");
  await run("limit", "slack:", "--per-second", "0.5");
  await stage.query("select outbox.register_rail('email', 'blind', 20000)");
  expect(await settings()).toMatchObject({
    status: "ok",
    message: [
      "limit slack:: min_interval_ms is 2000, set by you (registered: 1000)",
      "rail email: timeout_ms is 20000, declared by its relay (registered: 30000)",
      "stream capacity: backoff_base_ms is 5000, set by you (registered: 2000)",
      "stream capacity: max_tries is 30, set by you (registered: 12).",
    ].join("; "),
    remedy:
      "Migrations keep these. To restore the registered values: headroom outbox limit 'slack:' --reset; restart the relays; " +
      "headroom outbox stream capacity --reset backoff-base-ms; headroom outbox stream capacity --reset max-tries",
  });

  expect((await run("stream", "capacity", "--reset", "max-tries")).out).toMatch(/tries +12\n/);
  expect((await settings())?.message).not.toContain("max_tries");
  expect((await run("limit", "slack:", "--reset")).out).toContain("at most once every 1000 ms");
  expect((await run("stream", "capacity", "--reset-all", "--max-tries", "13")).out).toMatch(/tries +13\n/);
  expect((await run("stream", "capacity", "--reset-all")).out).toContain("restart them one after the other");
  expect(await run("stream", "capacity", "--reset", "order")).toMatchObject({
    status: 1,
    err: expect.stringContaining("no such setting: order"),
  });
  await stage.query("select outbox.register_rail('email', 'blind', 30000)");
  expect(await settings()).toMatchObject({ message: expect.stringContaining("as this release registers") });
});

test("a database that cannot be reached", async () => {
  const outcome = await headroom(["doctor", "--database-url", "postgresql://u:secret-word@127.0.0.1:1/none"]);
  expect(outcome.status).toBe(1);
  expect(outcome.out).toContain("FAIL  database");
  expect(outcome.out).toContain("→ ");
  expect(outcome.out).not.toContain("secret-word");
});

test("a transaction pooler, a read-only session, a schema that only its owner can check", async () => {
  const pooler = await startTransactionPooler(stage.db.url, 4);
  try {
    expect((await doctor(pooler.url)).findings.get("pooler")).toMatchObject({ status: "warning" });
  } finally {
    await pooler.stop();
  }
  const readOnly = new URL(stage.db.url);
  readOnly.searchParams.set("options", "-c default_transaction_read_only=on");
  const { status, findings } = await doctor(readOnly.toString());
  expect(status).toBe(1);
  expect(findings.get("writable")).toMatchObject({ status: "failure", remedy: expect.stringContaining("reset") });
  expect((await doctor(stage.db.as("headroom_control").url)).findings.get("schema")).toMatchObject({
    status: "skipped",
  });
});

test.each(POSTGRES_VERSIONS)("a gateway that may not act for anybody, on PostgreSQL %i", async (version) => {
  const client = await (await createTestDatabase({ version })).superuser.connect();
  // Roles belong to the whole server, so other tests must never see this change.
  await client.query("begin");
  await client.query("grant anon, authenticated, service_role to headroom_gateway");
  expect(await checkGateway(client)).toMatchObject({
    status: "ok",
    message: expect.stringContaining("may act as anon"),
  });
  await client.query("revoke anon, service_role from headroom_gateway");
  const remedy: unknown = expect.stringContaining("grant anon, service_role to headroom_gateway");
  expect(await checkGateway(client)).toMatchObject({
    status: "ok",
    message: expect.stringContaining("may not act as anon, service_role; authenticator may"),
    remedy,
  });
  await client.query("revoke anon from authenticator");
  expect(await checkGateway(client)).toMatchObject({
    status: "warning",
    message: expect.stringContaining("may not act as anon, service_role: requests over HTTP would be refused"),
    remedy,
  });
  await client.query("rollback");
  await client.end();
});

const warned = (why: string, remedy: string): object => ({
  status: "warning",
  message: expect.stringContaining(`(${why})`),
  remedy: expect.stringContaining(`Set ${remedy} to 0`),
});

test.each(POSTGRES_VERSIONS)("a log that would show the key to the secrets, on PostgreSQL %i", async (version) => {
  const client = await (await createTestDatabase({ version })).superuser.connect();
  const underSettings = async (...settings: readonly string[]): Promise<unknown> => {
    await client.query("begin");
    for (const setting of settings) await client.query(`set local ${setting}`);
    const finding = await checkServerLog(client);
    await client.query("rollback");
    return finding;
  };
  expect(await underSettings()).toMatchObject({ status: "ok" });
  expect(await underSettings("log_statement = 'mod'")).toMatchObject({ status: "ok" });
  expect(await underSettings("log_statement = 'all'")).toMatchObject(
    warned("log_statement", "log_parameter_max_length"),
  );
  expect(await underSettings("log_min_duration_statement = 500")).toMatchObject(
    warned("log_min_duration_statement", "log_parameter_max_length"),
  );
  expect(await underSettings("log_min_duration_statement = 0", "log_parameter_max_length = 0")).toMatchObject({
    status: "ok",
  });
  expect(await underSettings("log_parameter_max_length_on_error = 64")).toMatchObject(
    warned("log_parameter_max_length_on_error", "log_parameter_max_length_on_error"),
  );
  expect(await underSettings("auto_explain.log_min_duration = '250ms'")).toMatchObject(
    warned("auto_explain.log_min_duration", "auto_explain.log_parameter_max_length"),
  );
  await client.end();
});

test.each(POSTGRES_VERSIONS)("logins whose reading of views is compiled, on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const client = await db.superuser.connect();
  // The servers of the tests cannot compile. Roles belong to the whole server, so other tests must never see this change.
  await client.query(`begin; create schema compiling; set local search_path = compiling, pg_catalog;
    create function compiling.pg_jit_available() returns boolean language sql as 'select true'`);
  // Other tests create logins on this server.
  const named = async (): Promise<string[]> => {
    const { message } = await checkJit(client);
    return ["login_headroom_auditor", "login_headroom_control"].filter((login) => message.includes(login));
  };
  const set = (whom: string, value: string): Promise<unknown> => client.query(`alter ${whom} set jit = ${value}`);
  expect(await named()).toEqual(["login_headroom_auditor", "login_headroom_control"]);
  // Its remedy says what it needs.
  const { status, remedy } = await checkJit(client);
  expect(status).toBe("warning");
  for (const [statement] of remedy!.matchAll(/alter role [^;]+/g)) await client.query(statement);
  expect(await checkJit(client)).toMatchObject({ status: "ok" });
  await client.query(`alter role login_headroom_auditor in database ${db.name} reset jit`);
  expect(await named()).toEqual(["login_headroom_auditor"]);
  await set(`database ${db.name}`, "off");
  expect(await named()).toEqual([]);
  await set("role login_headroom_auditor", "on");
  expect(await named()).toEqual(["login_headroom_auditor"]);
  await client.query("drop function compiling.pg_jit_available()");
  expect(await checkJit(client)).toMatchObject({ status: "ok" });
  await client.query("rollback");
  await client.end();
});

test("pg_cron without the job of the timers, with one that it never ran, and with one that runs", async () => {
  const { pool } = stage.db.superuser;
  await pool.query(`create schema cron; create table cron.job (jobid bigint, jobname name);
    create table cron.job_run_details (jobid bigint, runid bigint, status text, end_time timestamptz);
    grant usage on schema cron to public; grant select on all tables in schema cron to public`);
  const found = async (): Promise<unknown> => (await doctor(stage.db.url)).findings.get("pg_cron");
  try {
    expect(await found()).toMatchObject({
      status: "warning",
      remedy: expect.stringContaining("capacity.schedule_timers()"),
    });
    await pool.query("insert into cron.job values (1, 'capacity-request-timers')");
    expect(await found()).toMatchObject({ status: "warning", message: expect.stringContaining("never completed it") });
    await pool.query("insert into cron.job_run_details values (1, 1, 'failed', now())");
    expect(await found()).toMatchObject({
      status: "warning",
      message: expect.stringContaining("Its last run: failed"),
    });
    await pool.query("insert into cron.job_run_details values (1, 2, 'succeeded', now())");
    expect(await found()).toMatchObject({ status: "ok" });
    await pool.query("update cron.job_run_details set end_time = now() - interval '1 hour'");
    expect(await found()).toMatchObject({ status: "warning", message: expect.stringContaining("60 min ago") });
    await pool.query("revoke select on cron.job from public");
    const control = await doctor(stage.db.as("headroom_control").url);
    expect(control.findings.get("pg_cron")).toMatchObject({
      status: "skipped",
      message: expect.stringContaining("Only the role that runs headroom migrate can check"),
    });
  } finally {
    await pool.query("drop schema cron cascade");
  }
});

test("what needs a person: no relay, waiting rows, dead letters, stale functions, missing partitions", async () => {
  const rail = probeRail({ send: () => ({ kind: "rejected", code: "http_400", reason: "" }) });
  const stream = await stage.stream();
  await stage.declare(rail);
  const { outboxId } = await stage.enqueue({ stream, rail: rail.name });
  const relay = await stage.run({ rails: [rail], streams: [stream] });
  await stage.untilState(outboxId, "FAILED");
  await relay.stop();
  await stage.enqueue({ stream, rail: rail.name });
  await stage.query("update outbox.pending set due = now() - interval '1 hour'");
  // For three minutes a stopped relay looks like one that is called now and then.
  expect((await doctor(stage.db.url)).findings.get("relays")).toMatchObject({
    status: "ok",
    message: expect.stringContaining("a relay on demand was called"),
  });
  await stage.query("update outbox.rails set served_at = now() - interval '1 hour'");
  await stage.query("update headroom.recreatables set checksum = 'another' where path like '%status.sql'");
  const leaves = await stage.query<{ partition: string }>(
    "select p.partition::text from outbox.archive_partitions() p join outbox.retention_classes c using (class_id) where c.name = 'week'",
  );
  const stale = await doctor(stage.db.url);
  expect(stale.status).toBe(1);
  expect(stale.findings.get("schema")).toMatchObject({ status: "failure", remedy: "Run: headroom migrate" });
  expect(await headroom(["migrate", "--database-url", stage.db.url])).toMatchObject({ status: 0 });
  for (const { partition } of leaves) await stage.query(`drop table ${partition}`);
  const { status, findings } = await doctor(stage.db.url);
  expect(status).toBe(1);
  expect(findings.get("relays")).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("headroom relay"),
  });
  expect(findings.get("rails")).toMatchObject({
    status: "failure",
    message: expect.stringContaining(`1 row waits for "${rail.name}", which no relay serves`),
    remedy: expect.stringContaining("headroom relay --rails <module>"),
  });
  expect(findings.get("pending")).toMatchObject({ status: "warning" });
  expect(findings.get("dead letters")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("1 dead letter,"),
  });
  expect(findings.get("partitions")).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("ensure_partitions"),
  });
});
