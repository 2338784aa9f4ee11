import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClientBase } from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { connect, createPool, probeServer, requireUsable, withConnection } from "../../../src/db/connect.ts";
import { startEmbedded } from "../../../src/db/embedded.ts";
import { HeadroomError } from "../../../src/db/errors.ts";
import { dataFolder } from "../../helpers/data-folder.ts";
import { clusterOf, createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { startTransactionPooler } from "../../helpers/transaction-pooler.ts";

async function failureOf(work: Promise<unknown>): Promise<HeadroomError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof HeadroomError) return error;
  throw new Error("It did not fail as it should have.", { cause: error });
}

describe.each(POSTGRES_VERSIONS)("probing PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  test("a direct connection is usable, listens and prepares", async () => {
    const [client, rival] = await db.twoConnections();
    const report = await probeServer(client, rival);
    expect(report).toMatchObject({
      majorVersion: version,
      database: db.name,
      role: "migrator",
      superuser: false,
      readOnly: "no",
      pooler: "none",
      listen: true,
      preparedStatements: true,
      problems: [],
    });
    expect(() => requireUsable(report)).not.toThrow();
  });

  test("the probe leaves nothing behind in the session", async () => {
    const client = await db.connect();
    await probeServer(client);
    const left = await client.query("select pg_listening_channels() union all select name from pg_prepared_statements");
    expect(left.rows).toEqual([]);
  });

  test("a transaction pooler is recognised, and named as the reason for polling", async () => {
    const pooler = await startTransactionPooler(db.url);
    try {
      const client = await connect(pooler.url);
      const rival = await connect(pooler.url);
      const report = await probeServer(client, rival);
      expect(report).toMatchObject({ pooler: "transaction", listen: false, preparedStatements: false });
      expect(report.problems).toEqual([expect.objectContaining({ severity: "warning", code: "transaction_pooler" })]);
      expect(() => requireUsable(report)).not.toThrow();
      await Promise.all([client.end(), rival.end()]);
    } finally {
      await pooler.stop();
    }
  });

  test("a session that is read-only by default is refused with the way out", async () => {
    const client = await db.connect();
    await client.query("set default_transaction_read_only = on");
    const report = await probeServer(client);
    expect(report.readOnly).toBe("session");
    expect(() => requireUsable(report)).toThrow(
      expect.objectContaining({
        code: "database_read_only",
        hint: expect.stringContaining("default_transaction_read_only"),
      }),
    );
  });
});

test("a standby is refused with the advice to use the primary", async () => {
  const dataDir = await mkdtemp(join(dataFolder, "headroom-standby-"));
  await chmod(dataDir, 0o755);
  try {
    const primary = await startEmbedded({ dataDir });
    await primary.stop();
    await writeFile(join(primary.home, "server", "cluster", "standby.signal"), "");
    await using standby = await startEmbedded({ dataDir });
    const report = await withConnection(standby.url, (client) => probeServer(client));
    expect(report.readOnly).toBe("standby");
    expect(() => requireUsable(report)).toThrow(
      expect.objectContaining({ code: "database_read_only", hint: expect.stringContaining("primary") }),
    );
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
});

test("a server older than 15 is refused with its version named", async () => {
  const facts = {
    version: 140_011,
    standby: false,
    read_only: false,
    pid: 1,
    database: "d",
    role: "r",
    superuser: false,
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no server that old is available
  const old = { processID: 1, query: async () => ({ rows: [{ ...facts, found: true }] }) } as unknown as ClientBase;
  const report = await probeServer(old);
  expect(() => requireUsable(report)).toThrow(
    expect.objectContaining({ code: "server_too_old", message: expect.stringContaining("PostgreSQL 14") }),
  );
});

describe("connecting", () => {
  const cluster = clusterOf(18);
  const withParts = (parts: { password?: string; database?: string; port?: string }): string => {
    const url = new URL(cluster.superuserUrl);
    url.password = parts.password ?? url.password;
    url.pathname = parts.database ?? url.pathname;
    url.port = parts.port ?? url.port;
    return url.toString();
  };

  test("to a port where nobody listens says that the server cannot be reached", async () => {
    const failure = await failureOf(connect(withParts({ port: "1" })));
    expect(failure).toMatchObject({ code: "database_unreachable", httpStatus: 503 });
    expect(failure.hint).toContain("running");
  });

  test("with a wrong password says that the login was refused, and repeats no password", async () => {
    const failure = await failureOf(connect(withParts({ password: "not-it-at-all" })));
    expect(failure).toMatchObject({ code: "login_refused", sqlState: "28P01" });
    expect(JSON.stringify([failure.message, failure.detail, failure.hint])).not.toContain("not-it-at-all");
  });

  test("to a database that does not exist says so", async () => {
    expect(await failureOf(connect(withParts({ database: "nowhere" })))).toMatchObject({ code: "database_missing" });
  });

  test("with something that is no database URL is a usage error that does not repeat it", async () => {
    const failure = await failureOf(connect("mysql://root:hunter2@localhost/x"));
    expect(failure.code).toBe("usage");
    expect(`${failure.message} ${failure.hint}`).not.toContain("hunter2");
  });

  test("through a pool survives an idle connection being cut by the server", async () => {
    const pool = createPool(cluster.superuserUrl, { maxConnections: 1 });
    afterAll(() => pool.end());
    const first = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
    const pid = first.rows[0]?.pid;
    await withConnection(cluster.superuserUrl, (client) =>
      client.query("select pg_terminate_backend($1, 5000)", [pid]),
    );
    await expect.poll(() => pool.totalCount).toBe(0);
    const second = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
    expect(second.rows[0]?.pid).not.toBe(pid);
  });
});
