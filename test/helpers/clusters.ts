/**
 * One server of a version for the whole test run, set up like Supabase's servers: the roles that its gateway
 * uses, default privileges that give them everything, and a migrating role that is not a superuser.
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

/** The versions that everything must work on. A server of each runs, because some tests name a version. */
export const supportedVersions = [15, 17, 18] as const satisfies readonly EmbeddedVersion[];

/**
 * The versions for tests where the version can matter: SQL of the engine and the workflow, the migrator, grants, policies, plans. `npm
 * test` takes the newest, and `npm run test:older` the others. Tests that show most of the differences use `everyVersion` in one run. If a
 * test is about TypeScript (the command line, HTTP, rails, the sandbox), the newest is enough, which is the default of
 * createTestDatabase().
 */
export const secondTier = process.env["HEADROOM_TEST_VERSIONS"] === "older";
export const POSTGRES_VERSIONS: readonly EmbeddedVersion[] = secondTier ? [15, 17] : [18];
export const everyVersion: readonly EmbeddedVersion[] =
  process.env["HEADROOM_TEST_VERSIONS"] === "newest" ? [18] : supportedVersions;

export const migratorRole = "migrator";
export const testPassword = "tr0ub4dor";

/**
 * The templates that databases are cloned from. `whole` has the archive's partitions for a month ahead, as relays keep them. `small` has
 * only those of these days, and a relay creates no more in it: every connection plans reads of the archive over each partition, which took
 * a quarter of the test time, and creating a month of them took longer than most tests of a relay.
 */
export const templates = { whole: "headroom_template", small: "headroom_template_small" } as const;
export type Template = keyof typeof templates;

/** What a test file gets about a running server. */
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
  // Data in memory takes memory from everything else.
  max_wal_size: "256MB",
} as const;

/**
 * A password hash as the server stores it, but with one round instead of 4096: thousands of connections log in, and each would do all
 * rounds.
 */
function quickPassword(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, 1, 32, "sha256");
  const keyed = (name: string): Buffer => createHmac("sha256", salted).update(name).digest();
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64");
  return `SCRAM-SHA-256$1:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`;
}

/** As on Supabase, where policies do not apply to `service_role`. */
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

/** Prepares a database like Supabase does. Run it in the database as a superuser, before migrating. */
export const supabasePrivileges = `
grant usage on schema public to ${everybody};
${plantDefaultPrivileges(migratorRole)}
${plantDefaultPrivileges("postgres")}
`;

/** Starts a server as initdb creates it. */
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

/** Starts a server with the roles above and without our databases. */
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
 * Keeps the partitions that a run over midnight needs. From then on a relay creates two days instead of thirty. Run it as a
 * superuser in a migrated database.
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

/** A copy with the owner and the grants of its source database. */
export async function cloneDatabase(client: Client, from: string, to: string): Promise<void> {
  // The default strategy copies through the log, which writes every page twice.
  await client.query(`create database ${to} template ${from} owner ${migratorRole} strategy file_copy`);
  // A clone does not inherit grants on the database itself.
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

/** A database that belongs to the migrating role, with Supabase's default privileges, and nothing of ours in it. */
export async function createSupabaseDatabase(
  server: { readonly port: number; readonly url: string; urlFor(database: string): string },
  name: string,
  options = "",
): Promise<void> {
  await withClient(server.url, (client) => client.query(`create database ${name} owner ${migratorRole} ${options}`));
  await withClient(server.urlFor(name), (client) => client.query(supabasePrivileges));
}

/** Our roles cannot log in; for each there is a `login_…` that is a member only of it. */
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
