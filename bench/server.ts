/**
 * The temporary server of a run: PostgreSQL 18 from npm with its default settings, including sizes and durability, as most people who
 * try it will have.
 */
import { Client } from "pg";
import { startEmbedded } from "../src/db/embedded.ts";

const REPORTED = [
  "fsync",
  "synchronous_commit",
  "full_page_writes",
  "wal_sync_method",
  "shared_buffers",
  "max_wal_size",
  "jit",
];

export interface BenchServer {
  /** A superuser's URL; suites make their databases through it. */
  readonly adminUrl: string;
  /** Version and settings, as the server itself reports them. */
  readonly description: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startServer(signal: AbortSignal): Promise<BenchServer> {
  const server = await startEmbedded({ ephemeral: true, signal });
  try {
    const adminUrl = server.urlFor("postgres");
    return { adminUrl, description: await describe(adminUrl), stop: () => server.stop() };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

async function describe(adminUrl: string): Promise<Record<string, string>> {
  const client = new Client(adminUrl);
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; value: string }>(
      `select 'server_version' as name, split_part(version(), ' on ', 1) as value
       union all select name, current_setting(name) from unnest($1::text[]) name`,
      [REPORTED],
    );
    const description = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
    if (description["fsync"] !== "on" || description["synchronous_commit"] !== "on") {
      throw new Error("the server does not run with default durability; its numbers would mean nothing");
    }
    return description;
  } finally {
    await client.end();
  }
}
