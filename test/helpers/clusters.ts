/**
 * One server of a version for the whole test run, dressed up as Supabase dresses its own: the roles that its gateway
 * uses, default privileges that give them everything, and a migrating role that is no superuser.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { Client } from "pg";
import {
  startEmbedded,
  type EmbeddedOptions,
  type EmbeddedServer,
  type EmbeddedVersion,
} from "../../src/db/embedded.ts";
import { HeadroomError } from "../../src/db/errors.ts";
import { migrate } from "../../src/db/migrate.ts";
import { dataFolder } from "./data-folder.ts";

/** The versions that everything must work on. A server of each runs, because some tests name theirs. */
export const supportedVersions = [15, 17, 18] as const satisfies readonly EmbeddedVersion[];

/**
 * What a test runs on where the version can matter: SQL of the engine and the workflow, the migrator, grants, policies, plans. `npm test` takes
 * the newest, and `npm run test:older` the others. What shows most of what versions do differently takes `everyVersion` at once. Where a test
 * is about TypeScript (the command line, HTTP, rails, the sandbox), the newest is enough, which createTestDatabase() takes by itself.
 */
export const secondTier = process.env["HEADROOM_TEST_VERSIONS"] === "older";
export const POSTGRES_VERSIONS: readonly EmbeddedVersion[] = secondTier ? [15, 17] : [18];
export const everyVersion: readonly EmbeddedVersion[] =
  process.env["HEADROOM_TEST_VERSIONS"] === "newest" ? [18] : supportedVersions;

export const migratorRole = "migrator";
export const testPassword = "test";

/**
 * What databases are cloned from. `whole` has the archive's partitions for a month ahead, as relays keep them. `small` is the same with those
 * of these days alone, and a relay makes no more of them in it: whatever reads the archive is planned over each of them anew on each
 * connection, which took a quarter of the time of tests, and making a month of them took longer than most tests of a relay.
 */
export const templates = { whole: "headroom_template", small: "headroom_template_small" } as const;
export type Template = keyof typeof templates;

/** What a test file is told about a running server. */
export interface ClusterInfo {
  readonly version: EmbeddedVersion;
  readonly port: number;
  readonly superuserUrl: string;
  /** Why the template could not be migrated; then tests that do not need it still run. */
  readonly templateError: string | null;
}

export interface TestCluster {
  readonly server: EmbeddedServer;
  readonly info: ClusterInfo;
}

/** Unsafe on purpose: test data need not survive a power cut. */
const testSettings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: 200,
  shared_buffers: "64MB",
  // Data in memory is memory that is gone.
  max_wal_size: "256MB",
} as const;

/**
 * A password as the server keeps it, but strengthened by one round instead of 4096: thousands of connections log in, and each would do all
 * rounds again.
 */
function quickPassword(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, 1, 32, "sha256");
  const keyed = (name: string): Buffer => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  return `SCRAM-SHA-256$1:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`;
}

/** As Supabase makes them, where policies do not hold for `service_role`. */
const supabaseRoles = `
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit password '${quickPassword(testPassword)}';
grant anon, authenticated, service_role to authenticator;
create role ${migratorRole} login createrole createdb password '${quickPassword(testPassword)}';
`;

const everybody = "anon, authenticated, service_role";

function plantDefaultPrivileges(role: string): string {
  return ["", "in schema public"]
    .flatMap((where) =>
      ["tables", "functions", "sequences"].map(
        (what) => `alter default privileges for role ${role} ${where} grant all on ${what} to ${everybody};`,
      ),
    )
    .join("\n");
}

/** Gives a database what Supabase gives each of its own. To be run in it as a superuser, before it is migrated. */
export const supabasePrivileges = `
grant usage on schema public to ${everybody};
${plantDefaultPrivileges(migratorRole)}
${plantDefaultPrivileges("postgres")}
`;

/** Starts a server that has nothing but what initdb makes. */
export function startPlainCluster(
  version: EmbeddedVersion,
  settings: EmbeddedOptions["settings"] = {},
): Promise<EmbeddedServer> {
  return startEmbedded({
    ephemeral: true,
    dataDir: dataFolder,
    version,
    database: "postgres",
    settings: { ...testSettings, ...settings },
  });
}

/** Starts a server with the roles above and no database of ours. */
export async function startBareCluster(
  version: EmbeddedVersion,
  settings: EmbeddedOptions["settings"] = {},
): Promise<EmbeddedServer> {
  const server = await startPlainCluster(version, settings);
  const own = quickPassword(new URL(server.url).password);
  await withClient(server.url, (client) => client.query(`alter role postgres password '${own}'; ${supabaseRoles}`));
  return server;
}

/** Starts a server and migrates its templates. */
export async function startTestCluster(
  version: EmbeddedVersion,
  settings: EmbeddedOptions["settings"] = {},
): Promise<TestCluster> {
  const server = await startBareCluster(version, settings);
  const templateError = await makeTemplates(server).then(
    () => null,
    (error: unknown) => describeError(error),
  );
  return { server, info: { version, port: server.port, superuserUrl: server.url, templateError } };
}

async function makeTemplates(server: EmbeddedServer): Promise<void> {
  await createSupabaseDatabase(server, templates.whole);
  const url = urlOf(server.port, templates.whole, migratorRole);
  await withClient(url, (client) => migrate(client));
  await withClient(server.url, createLogins);
  await withClient(server.url, (client) => cloneDatabase(client, templates.whole, templates.small));
  await withClient(server.urlFor(templates.small), (client) => client.query(keepFewPartitions));
}

/**
 * Leaves those of a run that goes on over midnight. The two days are what a relay makes from then on, where it made thirty. To be run as a
 * superuser in a database that is migrated.
 */
export const keepFewPartitions = `
do $$
declare
  v_leaf regclass;
  v_made text := pg_get_functiondef('outbox.ensure_partitions(integer)'::regprocedure);
begin
  if v_made not like '%DEFAULT 30)%' then
    raise 'outbox.ensure_partitions no longer makes thirty days by itself';
  end if;
  execute replace(v_made, 'DEFAULT 30)', 'DEFAULT 2)');
  for v_leaf in select p.partition from outbox.archive_partitions() p where p.from_at > now() + interval '2 days' loop
    execute format('drop table %s', v_leaf);
  end loop;
end
$$`;

/** A copy with the owner and the grants of the database that it is made from. */
export async function cloneDatabase(client: Client, from: string, to: string): Promise<void> {
  // Through the log, which is the default, every page is written twice.
  await client.query(`create database ${to} template ${from} owner ${migratorRole} strategy file_copy`);
  // A clone does not inherit what was granted on the database itself.
  const granted = await client.query<{ privilege: string; grantee: string }>(
    `select a.privilege_type as privilege, coalesce(quote_ident(r.rolname), 'public') as grantee
       from pg_database d cross join aclexplode(d.datacl) a left join pg_roles r on r.oid = a.grantee
      where d.datname = $1`,
    [from],
  );
  if (granted.rows.length > 0) await client.query(`revoke all on database ${to} from public`);
  for (const { privilege, grantee } of granted.rows) {
    await client.query(`grant ${privilege} on database ${to} to ${grantee}`);
  }
}

/** A database that belongs to the migrating role, with default privileges planted, and nothing of ours in it. */
export async function createSupabaseDatabase(
  server: { readonly port: number; readonly url: string; urlFor(database: string): string },
  name: string,
  options = "",
): Promise<void> {
  await withClient(server.url, (client) => client.query(`create database ${name} owner ${migratorRole} ${options}`));
  await withClient(server.urlFor(name), (client) => client.query(supabasePrivileges));
}

/** Our roles cannot log in; for each there is a `login_…` that is a member of it and nothing else. */
async function createLogins(client: Client): Promise<void> {
  const roles = await client.query<{ rolname: string }>(
    String.raw`select rolname from pg_roles where rolname like 'headroom\_%' and not rolcanlogin`,
  );
  for (const { rolname } of roles.rows) {
    await client.query(
      `create role ${loginOf(rolname)} login password '${quickPassword(testPassword)}' in role ${rolname}`,
    );
  }
}

export function loginOf(role: string): string {
  return `login_${role}`;
}

export function urlOf(port: number, database: string, user: string): string {
  return `postgresql://${user}:${testPassword}@127.0.0.1:${port}/${database}`;
}

export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof HeadroomError
    ? [error.message, error.detail, error.hint].filter(Boolean).join("\n")
    : error.message;
}
