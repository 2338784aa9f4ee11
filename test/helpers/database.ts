/**
 * A separate database for a test file, cloned from the migrated template, with connections as every role.
 *
 * Everything that is opened through it is closed at the end of the file; a connection that a test opened itself and left open is a
 * leak, and fails the file.
 */
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Client, type ClientBase, type Pool, type PoolConfig } from "pg";
import { afterAll, inject, onTestFailed, TestRunner } from "vitest";
import type { EmbeddedVersion } from "../../src/db/embedded.ts";
import {
  cloneDatabase,
  createSupabaseDatabase,
  loginOf,
  migratorRole,
  templates,
  urlOf,
  withClient,
  type ClusterInfo,
  type Template,
} from "./clusters.ts";
import { PatientPool } from "./patient-pool.ts";

export { everyVersion, POSTGRES_VERSIONS } from "./clusters.ts";

/** Who can log in. A `headroom_…` role does so through its own login, a member of it. */
export type TestRole =
  | "postgres"
  | "migrator"
  | "authenticator"
  | "headroom_owner"
  | "headroom_ingest"
  | "headroom_executor"
  | "headroom_control"
  | "headroom_auditor";

/** A client that knows its backend's pid, because it cannot be queried while the backend is blocked. */
export type TestClient = Client & { readonly pid: number };

export interface RoleAccess {
  readonly url: string;
  /** One pool per role, made on first use. */
  readonly pool: Pool;
  /** A separate connection, for named interleavings. */
  readonly connect: () => Promise<TestClient>;
}

export interface TestDatabase extends RoleAccess {
  readonly name: string;
  readonly version: EmbeddedVersion;
  readonly superuserUrl: string;
  /** Access as the superuser, for setup and checks; the code under test runs as one of our roles. */
  readonly superuser: RoleAccess;
  as(role: TestRole): RoleAccess;
  /** Two connections, for interleavings. */
  twoConnections(role?: TestRole): Promise<[TestClient, TestClient]>;
  /** Resolves when the backend waits for a lock; throws if it does not in time. */
  waitUntilBlocked(client: TestClient | number, timeoutMs?: number): Promise<void>;
}

export function clusterOf(version: EmbeddedVersion): ClusterInfo {
  const cluster = inject("clusters").find((candidate) => candidate.version === version);
  if (cluster === undefined) throw new Error(`No PostgreSQL ${version} was started for this run.`);
  return cluster;
}

/**
 * Clones a template, by default the small one. Call it while tests are being collected (top level of a file, or of a describe), because it
 * registers the clean-up: `const db = await createTestDatabase({ version: 17 })`. Access without a role is the
 * migrating role's. `cluster` is a server that the file started itself, for settings of its own.
 */
export async function createTestDatabase(
  options: { version?: EmbeddedVersion; cluster?: ClusterInfo | undefined; template?: Template } = {},
): Promise<TestDatabase> {
  const { version = 18, cluster = clusterOf(version), template = "small" } = options;
  if (cluster.templateError !== null) throw new Error(`The template was not migrated: ${cluster.templateError}`);
  const name = `test_${randomBytes(6).toString("hex")}`;
  await withClient(cluster.superuserUrl, (client) => cloneDatabase(client, templates[template], name));
  const opened = new Connections(cluster, name);
  afterAll(async () => {
    await opened.close();
    await withClient(cluster.superuserUrl, (client) => dropAndReportLeaks(client, name));
  });
  const as = (role: TestRole): RoleAccess => opened.accessOf(role);
  const own = as("migrator");
  return {
    name,
    version: cluster.version,
    url: own.url,
    get pool() {
      return own.pool;
    },
    connect: own.connect,
    superuserUrl: as("postgres").url,
    superuser: as("postgres"),
    as,
    async twoConnections(role = "migrator") {
      return [await as(role).connect(), await as(role).connect()];
    },
    waitUntilBlocked: (client, timeoutMs) =>
      waitUntilBlocked(as("postgres").pool, typeof client === "number" ? client : client.pid, timeoutMs),
  };
}

export interface EmptyDatabase extends AsyncDisposable {
  readonly name: string;
  /** As the migrating role, who owns it. */
  readonly url: string;
  readonly superuserUrl: string;
}

/** Turkish case rules, where I and i are different letters: this reveals code that wrongly depends on the collation. */
export const turkish = "template template0 locale 'C' locale_provider icu icu_locale 'tr-TR'";

/**
 * A database without anything of ours, with Supabase's default privileges; dropped when it is disposed. `options` are those of
 * `create database`.
 */
export async function createEmptyDatabase(version: EmbeddedVersion = 18, options = ""): Promise<EmptyDatabase> {
  const cluster = clusterOf(version);
  const name = `empty_${randomBytes(6).toString("hex")}`;
  const urlFor = (database: string): string => {
    const url = new URL(cluster.superuserUrl);
    url.pathname = `/${database}`;
    return url.toString();
  };
  await createSupabaseDatabase({ port: cluster.port, url: cluster.superuserUrl, urlFor }, name, options);
  return {
    name,
    url: urlOf(cluster.port, name, migratorRole),
    superuserUrl: urlFor(name),
    [Symbol.asyncDispose]: () => withClient(cluster.superuserUrl, (client) => dropAndReportLeaks(client, name)),
  };
}

/** Everything that was opened through the helper. */
class Connections {
  readonly #cluster: ClusterInfo;
  readonly #database: string;
  readonly #pools = new Map<TestRole, Pool>();
  readonly #clients: Client[] = [];

  constructor(cluster: ClusterInfo, database: string) {
    this.#cluster = cluster;
    this.#database = database;
  }

  accessOf(role: TestRole): RoleAccess {
    const url = this.#urlOf(role);
    const poolOf = (): Pool => this.#poolOf(role, { connectionString: url });
    return {
      url,
      get pool() {
        return poolOf();
      },
      connect: () => this.#connect(url),
    };
  }

  #urlOf(role: TestRole): string {
    if (role === "postgres") {
      const url = new URL(this.#cluster.superuserUrl);
      url.pathname = `/${this.#database}`;
      return url.toString();
    }
    return urlOf(this.#cluster.port, this.#database, role.startsWith("headroom_") ? loginOf(role) : role);
  }

  #poolOf(role: TestRole, config: PoolConfig): Pool {
    let pool = this.#pools.get(role);
    if (pool === undefined) {
      pool = new PatientPool({ ...config, max: 8, idleTimeoutMillis: 0, application_name: `pool of ${role}` });
      // Tests cut connections on purpose: cutting an idle one does not fail the test, and cutting a busy one fails its query.
      pool.on("error", () => undefined);
      pool.on("connect", (client) => void client.on("error", () => undefined));
      this.#pools.set(role, pool);
    }
    return pool;
  }

  async #connect(url: string): Promise<TestClient> {
    const client = new Client({ connectionString: url });
    client.on("error", () => undefined);
    this.#clients.push(client);
    // Otherwise the next tests would wait for what a test held when it failed.
    if (TestRunner.getCurrentTest() !== undefined) onTestFailed(() => client.end());
    await client.connect();
    const answer = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
    return Object.assign(client, { pid: answer.rows[0]?.pid ?? 0 });
  }

  async close(): Promise<void> {
    const closing = [...this.#pools.values(), ...this.#clients].map((open) => open.end());
    await Promise.allSettled(closing);
  }
}

async function dropAndReportLeaks(client: Client, name: string): Promise<void> {
  const leaks = await waitForNoSessions(client, name);
  await client.query(`drop database ${name} with (force)`);
  if (leaks.length > 0) {
    throw new Error(`Connections were left open at the end of the file:\n${leaks.join("\n")}`);
  }
}

/** A backend ends shortly after its socket was closed, so we poll for a while. */
async function waitForNoSessions(client: Client, name: string): Promise<string[]> {
  const deadline = performance.now() + 3000;
  for (;;) {
    const sessions = await client.query<{ line: string }>(
      `select format('%s %s (%s): %s', usename, application_name, state, left(query, 200)) as line
         from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [name],
    );
    if (sessions.rows.length === 0 || performance.now() > deadline) return sessions.rows.map((row) => row.line);
    await delay(25);
  }
}

/** Resolves when the backend waits for a lock that another session holds; throws if it does not in time. */
export async function waitUntilBlocked(observer: Pool | ClientBase, pid: number, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await observer.query<{ blocked: boolean }>(
      "select cardinality(pg_blocking_pids($1)) > 0 as blocked",
      [pid],
    );
    if (answer.rows[0]?.blocked === true) return;
    if (performance.now() > deadline) throw new Error(`Backend ${pid} is not blocked after ${timeoutMs} ms.`);
    await delay(10);
  }
}
