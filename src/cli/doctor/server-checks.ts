/** Is there a database, can it be used, and does its clock agree with ours? */
import type { Client } from "pg";
import { describeDatabaseUrl, oldestMajorVersion, probeServer, type ServerReport } from "../../db/connect.ts";
import { HeadroomError } from "../../db/errors.ts";
import { isEngineAlone } from "../../db/installed.ts";
import type { Part } from "../../db/layers.ts";
import { migrate } from "../../db/migrate.ts";
import { askAsControl, failure, ok, skipped, warning, type Finding } from "./check.ts";

export async function checkServer(url: string, client: Client, rival: Client): Promise<Finding[]> {
  const report = await probeServer(client, rival);
  return [
    ok("database", `${describeDatabaseUrl(url)} answers, as role ${report.role}.`),
    versionFinding(report),
    ...writableFindings(report),
    poolerFinding(report),
    wakeUpFinding(report),
    await clockFinding(client),
  ];
}

function problemOf(report: ServerReport, code: string, check: string): Finding | undefined {
  const problem = report.problems.find((candidate) => candidate.code === code);
  if (problem === undefined) return undefined;
  const say = problem.severity === "error" ? failure : warning;
  return say(check, problem.message, problem.hint);
}

function versionFinding(report: ServerReport): Finding {
  const version = `PostgreSQL ${report.majorVersion}.${report.versionNumber % 10_000}`;
  return (
    problemOf(report, "server_too_old", "version") ??
    ok("version", `${version}; ${oldestMajorVersion} or later is needed.`)
  );
}

function writableFindings(report: ServerReport): Finding[] {
  return [problemOf(report, "database_read_only", "writable") ?? ok("writable", "Transactions may write.")];
}

function poolerFinding(report: ServerReport): Finding {
  const found = problemOf(report, "transaction_pooler", "pooler");
  if (found !== undefined) return found;
  return ok("pooler", report.pooler === "none" ? "None in between; LISTEN works." : "In session mode; LISTEN works.");
}

function wakeUpFinding(report: ServerReport): Finding {
  if (!report.listen) return ok("wake-up", "By polling, every half second.");
  if (report.notify) return ok("wake-up", "By NOTIFY, and by polling.");
  const why = "The server allows prepared transactions, which a NOTIFY would keep from being prepared.";
  return {
    ...ok("wake-up", `By polling, every half second. ${why}`),
    remedy: "If producers do not use them: alter database … set outbox.notify = 'on'",
  };
}

/** Beyond this, receivers of signed webhooks begin to refuse what we send (their window is five minutes). */
const skewFailureMs = 120_000;
const skewWarningMs = 2_000;

/** Leases and deadlines use the database's clock alone; ours stamps signatures. */
async function clockFinding(client: Client): Promise<Finding> {
  const before = Date.now();
  const result = await client.query<{ now: Date }>("select clock_timestamp() as now");
  const after = Date.now();
  const there = result.rows[0]?.now.getTime() ?? before;
  // Anywhere between question and answer is no skew that could be told.
  const skewMs = there < before ? there - before : there > after ? there - after : 0;
  const message = `The database's clock is ${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} this machine's.`;
  const remedy = "Synchronize both clocks (NTP). Leases are safe, but receivers refuse signatures with a wrong time.";
  if (Math.abs(skewMs) >= skewFailureMs) return failure("clock", message, remedy);
  if (Math.abs(skewMs) >= skewWarningMs) return warning("clock", message, remedy);
  return ok("clock", "The database's clock and this machine's agree.");
}

const roleNames = ["headroom_owner", "headroom_ingest", "headroom_executor", "headroom_control", "headroom_auditor"];
/** Whom requests over HTTP come as, and by which login. */
const httpRoleNames = ["anon", "authenticated", "service_role", "headroom_gateway"];

export async function checkRoles(client: Client, parts: readonly Part[]): Promise<Finding> {
  const wanted = isEngineAlone(parts) ? roleNames : [...roleNames, ...httpRoleNames];
  const result = await client.query<{ rolname: string; member: boolean }>(
    "select rolname::text, pg_has_role(current_user, oid, 'MEMBER') as member from pg_roles where rolname = any ($1)",
    [wanted],
  );
  const missing = wanted.filter((role) => !result.rows.some((row) => row.rolname === role));
  if (missing.length > 0) {
    const found = await client.query("select from pg_namespace where nspname = 'outbox'");
    // Migrations that have run are not run again, so they do not bring back what another server had.
    return failure(
      "roles",
      `Missing: ${missing.join(", ")}.`,
      found.rows.length === 0
        ? "Run: headroom migrate"
        : `Roles belong to a server, and a dump of one database leaves them behind. Make them (pg_dumpall --roles-only, or: ${missing.map((role) => `create role ${role} nologin`).join("; ")}), then restore the database again.`,
    );
  }
  const mine = result.rows.filter((row) => row.member && roleNames.includes(row.rolname)).map((row) => row.rolname);
  if (mine.length === 0) {
    return failure(
      "roles",
      "This login is a member of none of the headroom_ roles.",
      "As the role that migrated: grant headroom_executor to <login> (relays), headroom_control (operators), headroom_ingest (producers).",
    );
  }
  if (mine.join() === "headroom_ingest") {
    return failure("roles", "This login may enqueue, and look at nothing.", askAsControl);
  }
  return ok("roles", `All there; this login is in ${mine.join(", ")}.`);
}

/** `parts`: what is installed. An engine that is alone is well without the rest. */
export async function checkSchema(client: Client, parts: readonly Part[]): Promise<Finding> {
  const alone = isEngineAlone(parts);
  try {
    const plan = await migrate(client, { dryRun: true, only: alone ? "outbox" : undefined });
    const due = plan.applied.length + plan.reapplied.length;
    const what = alone ? "The engine alone, up" : "Up";
    if (due === 0) return ok("schema", `${what} to date, at version ${plan.version}.`);
    const remedy = alone ? "Run: headroom migrate --only outbox" : "Run: headroom migrate";
    return failure("schema", `${due} of its files are missing or out of date.`, remedy);
  } catch (error) {
    if (!(error instanceof HeadroomError)) throw error;
    if (["schema_newer_than_code", "schema_unreleased", "schema_taken"].includes(error.code)) {
      return failure("schema", error.message, error.hint ?? "Upgrade this program.");
    }
    if (error.code !== "not_allowed" && error.code !== "permission_denied") throw error;
    return checkSchemaUnprivileged(client);
  }
}

/** Without the owner's rights the history cannot be read; whether there is a schema at all can be seen. */
async function checkSchemaUnprivileged(client: Client): Promise<Finding> {
  const result = await client.query<{ found: boolean }>(
    "select to_regprocedure('outbox.status()') is not null as found",
  );
  if (result.rows[0]?.found === true) {
    return skipped("schema", "It is there; whether it is current can be told only as the role that migrates.");
  }
  return failure("schema", "There is no Headroom schema.", "Run: headroom migrate");
}
