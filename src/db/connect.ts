/**
 * Connections to any Postgres server, and the probe that finds out whether and how it can be used.
 *
 * Owns: making clients and pools from a URL, and the probe. Does not own: reading the environment (the command line
 * does), nor waiting for a server to come back (the relay does).
 */
import { randomBytes } from "node:crypto";
import { Client, Pool, type ClientBase } from "pg";
import { HeadroomError, toHeadroomError } from "./errors.ts";
import { valueTypes } from "./values/values.ts";
import { parseUrl } from "./parse-url.ts";

export interface ConnectOptions {
  /** Shown in pg_stat_activity. Default: headroom. */
  readonly applicationName?: string | undefined;
  /** How long opening a connection may take. Default: 10,000. */
  readonly connectTimeoutMs?: number | undefined;
}

export interface PoolOptions extends ConnectOptions {
  /** Maximum number of connections. Default: 10. */
  readonly maxConnections?: number | undefined;
}

const defaults = { applicationName: "headroom", connectTimeoutMs: 10_000, maxConnections: 10 } as const;

function configOf(url: string, options: ConnectOptions) {
  return {
    connectionString: checkDatabaseUrl(url),
    application_name: options.applicationName ?? defaults.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaults.connectTimeoutMs,
    keepAlive: true,
    types: valueTypes,
  };
}

/** Refuses anything but a database URL, without repeating it: it may hold a password. */
export function checkDatabaseUrl(url: string): string {
  if (/^postgres(ql)?:$/.test(parseUrl(url)?.protocol ?? "")) return url;
  throw new HeadroomError("usage", "The database URL is not a PostgreSQL URL.", {
    hint: "It looks like postgresql://user:password@host:5432/database. Special characters are percent-encoded.",
  });
}

/** The URL without password and settings, fit to be shown. */
export function describeDatabaseUrl(url: string): string {
  const parsed = parseUrl(url);
  if (parsed === null) return "the database";
  const host = parsed.searchParams.get("host") ?? parsed.host;
  return `${parsed.protocol}//${parsed.username === "" ? "" : `${parsed.username}@`}${host}${parsed.pathname}`;
}

/** A pool that survives the loss of idle connections: the next query opens a new one. */
export function createPool(url: string, options: PoolOptions = {}): Pool {
  const pool = new Pool({ ...configOf(url, options), max: options.maxConnections ?? defaults.maxConnections });
  pool.on("error", ignore);
  surviveLostConnections(pool);
  return pool;
}

const survivors = new WeakSet<Pool>();

/**
 * The driver hands out a new connection before the caller can listen for its errors. When a server greets and immediately dies,
 * a process that is slow to read gets both in one piece, and an error of a connection without a listener ends the process.
 */
export function surviveLostConnections(pool: Pool): void {
  if (survivors.has(pool)) return;
  survivors.add(pool);
  pool.on("connect", (client) => client.on("error", ignore));
}

function ignore(): void {}

/** Opens one connection, or says why it cannot be opened. The caller ends it. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Client> {
  const client = new Client(configOf(url, options));
  // A connection that breaks while idle must not end the process; the next query reports it.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    const failure = toHeadroomError(error);
    throw new HeadroomError(failure.code, failure.message, {
      detail: failure.detail ?? describeDatabaseUrl(url),
      hint: failure.hint,
      sqlState: failure.sqlState,
      cause: error,
    });
  }
}

/** Runs the work on a separate connection and closes it, whatever happens. */
export async function withConnection<T>(
  url: string,
  work: (client: Client) => Promise<T>,
  options: ConnectOptions = {},
): Promise<T> {
  const client = await connect(url, options);
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export interface ServerProblem {
  /** An error makes the server unusable; a warning limits it. */
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

export interface ServerReport {
  /** As in server_version_num: 180004. */
  readonly versionNumber: number;
  readonly majorVersion: number;
  readonly database: string;
  readonly role: string;
  readonly superuser: boolean;
  readonly readOnly: "no" | "standby" | "session";
  /** The pooler between us and the server, as far as it can be detected. */
  readonly pooler: "none" | "session" | "transaction";
  /** Whether LISTEN survives from one statement to the next. */
  readonly listen: boolean;
  /** Whether a named prepared statement does. */
  readonly preparedStatements: boolean;
  /** Whether producers notify relays of work; not where the server allows prepared transactions, unless `outbox.notify` says so. */
  readonly notify: boolean;
  readonly problems: readonly ServerProblem[];
}

/** The oldest major version that works. */
export const oldestMajorVersion = 15;

/**
 * Asks the server what it is. `rival` is a second connection to the same URL. It holds a transaction open meanwhile, which
 * forces a transaction pooler to hand out another session; without it, an idle pooler may go undetected.
 * Both connections must be outside a transaction, and are left unchanged.
 */
export async function probeServer(client: ClientBase, rival?: ClientBase): Promise<ServerReport> {
  try {
    const facts = await readFacts(client);
    const session = facts.standby ? standbySession : await probeSession(client, rival, facts.pid);
    const { processID } = client as ClientBase & { readonly processID?: number | null };
    const behindPooler = typeof processID === "number" && processID !== facts.pid;
    const stateful = session.listen || facts.standby;
    const report = {
      versionNumber: facts.version,
      majorVersion: Math.trunc(facts.version / 10_000),
      database: facts.database,
      role: facts.role,
      superuser: facts.superuser,
      notify: facts.notify,
      readOnly: facts.standby ? "standby" : facts.read_only ? "session" : "no",
      pooler: !stateful ? "transaction" : behindPooler ? "session" : "none",
      ...session,
    } as const;
    return { ...report, problems: problemsOf(report) };
  } catch (error) {
    throw toHeadroomError(error);
  }
}

interface Facts {
  readonly version: number;
  readonly standby: boolean;
  readonly read_only: boolean;
  readonly pid: number;
  readonly database: string;
  readonly role: string;
  readonly superuser: boolean;
  readonly notify: boolean;
}

async function readFacts(client: ClientBase): Promise<Facts> {
  const result = await client.query<Facts>(
    `select current_setting('server_version_num')::int as version, pg_is_in_recovery() as standby,
            current_setting('transaction_read_only')::bool as read_only, pg_backend_pid() as pid,
            current_database()::text as database, current_user::text as role,
            (select rolsuper from pg_roles where rolname = current_user) as superuser,
            coalesce(nullif(current_setting('outbox.notify', true), '') = 'on', current_setting('max_prepared_transactions') = '0') as notify`,
  );
  const facts = result.rows[0];
  if (facts === undefined) throw new HeadroomError("database_error", "The server answered nothing.");
  return facts;
}

interface SessionFacts {
  readonly listen: boolean;
  readonly preparedStatements: boolean;
}

/** A standby refuses LISTEN for another reason, which says nothing about poolers. */
const standbySession: SessionFacts = { listen: false, preparedStatements: true };

async function probeSession(client: ClientBase, rival: ClientBase | undefined, pid: number): Promise<SessionFacts> {
  await rival?.query("begin");
  try {
    await rival?.query("select 1");
    // Asked first, because it leaves nothing behind in sessions that a pooler will hand to others.
    if (!(await staysOn(client, pid))) return { listen: false, preparedStatements: false };
    return await probeSessionState(client);
  } finally {
    await rival?.query("rollback");
  }
}

/** Several times, since a round-robin pooler may return the same session by chance. */
async function staysOn(client: ClientBase, pid: number): Promise<boolean> {
  for (let turn = 0; turn < 3; turn += 1) {
    const result = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    if (result.rows[0]?.pid !== pid) return false;
  }
  return true;
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

async function probeSessionState(client: ClientBase): Promise<SessionFacts> {
  const name = `headroom_probe_${randomBytes(6).toString("hex")}`;
  const prepared = { name, text: "select 1" };
  try {
    const listening = await succeeds(client.query(`listen ${name}`));
    const found = await client.query<{ found: boolean }>("select $1 in (select pg_listening_channels()) as found", [
      name,
    ]);
    const preparing = (await succeeds(client.query(prepared))) && (await succeeds(client.query(prepared)));
    return { listen: listening && found.rows[0]?.found === true, preparedStatements: preparing };
  } finally {
    await succeeds(client.query(`unlisten ${name}`));
    await succeeds(client.query(`deallocate ${name}`));
  }
}

function problemsOf(report: Omit<ServerReport, "problems">): ServerProblem[] {
  const problems: ServerProblem[] = [];
  if (report.majorVersion < oldestMajorVersion) {
    problems.push({
      severity: "error",
      code: "server_too_old",
      message: `The server is PostgreSQL ${report.majorVersion}; ${oldestMajorVersion} is the oldest that works.`,
      hint: "Upgrade the server, or use the embedded one (start without DATABASE_URL).",
    });
  }
  if (report.readOnly !== "no") {
    problems.push({
      severity: "error",
      code: "database_read_only",
      message:
        report.readOnly === "standby"
          ? "The server is a standby: it accepts no writes."
          : "Transactions are read-only here (default_transaction_read_only).",
      hint:
        report.readOnly === "standby"
          ? "Point the database URL at the primary."
          : `Run: alter role "${report.role}" reset default_transaction_read_only (or the same for the database).`,
    });
  }
  if (report.pooler === "transaction") {
    problems.push({
      severity: "warning",
      code: "transaction_pooler",
      message: "A transaction pooler is in front of the server: LISTEN does not work, so new work is found by polling.",
      hint: "For faster wake-ups use the direct or the session-mode address (on Supabase: port 5432).",
    });
  }
  return problems;
}

/** Throws the first problem that makes the server unusable. */
export function requireUsable(report: ServerReport): void {
  const problem = report.problems.find((candidate) => candidate.severity === "error");
  if (problem === undefined) return;
  throw new HeadroomError(problem.code, problem.message, {
    hint: problem.hint,
    sqlState: problem.code === "database_read_only" ? "25006" : undefined,
  });
}
