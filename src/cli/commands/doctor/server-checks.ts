/** Is there a database, can it be used, and does its clock agree with ours? */
import type { Client } from "pg";
import { describeDatabaseUrl, oldestMajorVersion, probeServer, type ServerReport } from "../../../db/connect.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { isEngineAlone } from "../../../db/installed.ts";
import type { Part } from "../../../db/layers.ts";
import { listMisowned, migrate, type MigrationResult } from "../../../db/migrate.ts";
import { listed } from "./facts.ts";
import { askAsControl, askAsMigrator, failure, ok, skipped, warning, type Finding } from "./finding.ts";

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
  const makeFinding = problem.severity === "error" ? failure : warning;
  return makeFinding(check, problem.message, problem.hint);
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
  return ok(
    "pooler",
    report.pooler === "none" ? "There is no pooler; LISTEN works." : "A pooler in session mode; LISTEN works.",
  );
}

function wakeUpFinding(report: ServerReport): Finding {
  if (!report.listen) return ok("wake-up", "Relays poll every half second.");
  if (report.notify) return ok("wake-up", "Relays are woken by NOTIFY, and poll too.");
  const why = "The server allows prepared transactions, and a transaction with a NOTIFY cannot be prepared.";
  return {
    ...ok("wake-up", `Relays poll every half second. ${why}`),
    remedy: "If producers do not prepare transactions: alter database … set outbox.notify = 'on'",
  };
}

/** Beyond this, receivers of signed webhooks begin to refuse what we send (their window is five minutes). */
const skewFailureMs = 120_000;
const skewWarningMs = 2_000;

/** Leases and deadlines use only the database's clock; ours stamps signatures. */
async function clockFinding(client: Client): Promise<Finding> {
  const before = Date.now();
  const result = await client.query<{ now: Date }>("select clock_timestamp() as now");
  const after = Date.now();
  const there = result.rows[0]?.now.getTime() ?? before;
  // The database's answer may be from any time between query and result, which bounds the error of this measurement.
  const skewMs = there < before ? there - before : there > after ? there - after : 0;
  const message = `The database's clock is ${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} this machine's.`;
  const remedy = "Synchronize both clocks (NTP). Leases are safe, but receivers refuse signatures with a wrong time.";
  if (Math.abs(skewMs) >= skewFailureMs) return failure("clock", message, remedy);
  if (Math.abs(skewMs) >= skewWarningMs) return warning("clock", message, remedy);
  return ok("clock", "The database's clock and this machine's agree.");
}

const roleNames = ["headroom_owner", "headroom_ingest", "headroom_executor", "headroom_control", "headroom_auditor"];
/** The roles of requests over HTTP, and the server's login. */
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
    // Migrations that have run are not run again, so they do not create the roles on another server.
    return failure(
      "roles",
      `Missing: ${missing.join(", ")}.`,
      found.rows.length === 0
        ? "Run: headroom migrate"
        : `Roles belong to a server, so the dump of a database does not contain them. Create them (pg_dumpall --roles-only, or: ${missing.map((role) => `create role ${role} nologin`).join("; ")}), then restore the database again.`,
    );
  }
  const mine = result.rows.filter((row) => row.member && roleNames.includes(row.rolname)).map((row) => row.rolname);
  if (mine.length === 0) {
    return failure(
      "roles",
      "This login is not a member of any headroom_ role.",
      "As the role that migrated: grant headroom_executor to <login> (relays), headroom_control (operators), headroom_ingest (producers).",
    );
  }
  if (mine.join() === "headroom_ingest") {
    return failure("roles", "This login may only enqueue, so it can check nothing.", askAsControl);
  }
  return ok("roles", `All roles exist; this login is a member of ${mine.join(", ")}.`);
}

/** `parts`: what is installed. An engine alone is fine without the rest. */
export async function checkSchema(client: Client, parts: readonly Part[]): Promise<Finding[]> {
  const alone = isEngineAlone(parts);
  const remedy = alone ? "Run: headroom migrate --only outbox" : "Run: headroom migrate";
  try {
    const plan = await migrate(client, { dryRun: true, only: alone ? "outbox" : undefined });
    const due = plan.applied.length + plan.reapplied.length;
    const what = alone ? "The engine alone, up" : "Up";
    return [
      due === 0
        ? ok("schema", `${what} to date, at version ${plan.version}.`)
        : failure("schema", `${due} files of the schema are not applied yet, or out of date.`, remedy),
      ownershipFinding(plan.repaired, remedy),
    ];
  } catch (error) {
    if (!(error instanceof HeadroomError)) throw error;
    if (["schema_newer_than_code", "schema_unreleased", "schema_taken"].includes(error.code)) {
      return [failure("schema", error.message, error.hint ?? "Upgrade this program.")];
    }
    if (error.code !== "not_allowed" && error.code !== "permission_denied") throw error;
    return checkSchemaUnprivileged(client, parts, remedy);
  }
}

function ownershipFinding({ owners, rights }: MigrationResult["repaired"], remedy: string): Finding {
  if (owners.length + rights.length === 0) {
    return ok("ownership", "Everything belongs to headroom_owner, and the rights match the grants.");
  }
  const roles = [...new Set(owners.map(({ owner }) => owner))];
  const found = [
    ...(owners.length === 0
      ? []
      : [
          `${owners.length} objects belong to ${listed(roles)} instead of headroom_owner, as a restore leaves them: ${listed(owners.map(({ what }) => what))}.`,
        ]),
    ...(rights.length === 0 ? [] : [`${rights.length} rights differ from the grants: ${listed(rights)}.`]),
  ];
  return failure(
    "ownership",
    found.join(" "),
    `${remedy}, which repairs them. headroom migrate --dry-run names them all.`,
  );
}

/** Only the owner may read the migration history. Everybody can see whether there is a schema, and who owns it. */
async function checkSchemaUnprivileged(client: Client, parts: readonly Part[], remedy: string): Promise<Finding[]> {
  const result = await client.query<{ found: boolean }>(
    "select to_regprocedure('outbox.status()') is not null as found",
  );
  if (result.rows[0]?.found !== true) {
    return [failure("schema", "There is no Headroom schema.", "Run: headroom migrate")];
  }
  const owners = await listMisowned(client, parts);
  return [
    skipped(
      "schema",
      "The schema is there; only the role that runs headroom migrate can check whether it is current.",
      askAsMigrator,
    ),
    owners.length > 0
      ? ownershipFinding({ owners, rights: [] }, `As the role that runs it: ${remedy.replace("Run: ", "")}`)
      : skipped(
          "ownership",
          "Everything belongs to headroom_owner; only the role that runs headroom migrate can check the grants.",
          askAsMigrator,
        ),
  ];
}
