/**
 * A fresh database per suite, so that neither bloat nor statistics leak from one to the next.
 */
import { Client, Pool } from "pg";

async function asAdmin(adminUrl: string, statements: readonly string[]): Promise<void> {
  const client = new Client(adminUrl);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Names come from suite ids, which hold only letters, digits, dashes and slashes. */
export const databaseName = (suiteId: string): string =>
  `bench_${suiteId.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_")}`;

export async function createDatabase(adminUrl: string, name: string): Promise<string> {
  await asAdmin(adminUrl, [`drop database if exists ${name} with (force)`, `create database ${name}`]);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, [`drop database if exists ${name} with (force)`]);
}

/** A pool that survives when its server stops: a suite is killed from outside when it fails, not by an error event. */
export function createPool(url: string, max: number): Pool {
  const pool = new Pool({ connectionString: url, max });
  pool.on("error", () => {});
  return pool;
}
