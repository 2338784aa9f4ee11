import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { prepareBinaries } from "../../../../src/db/embedded/binaries.ts";
import { isAlive, servesFolder } from "../../../../src/db/embedded/postmaster.ts";
import { chooseRunAs } from "../../../../src/db/embedded/system-user.ts";
import { startEmbedded } from "../../../../src/db/embedded.ts";
import { withConnection } from "../../../../src/db/connect.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/clusters.ts";
import { dataFolder } from "../../../helpers/data-folder.ts";
import { spawnEmbedded } from "../../../helpers/embedded-process.ts";
import { initialiseData } from "../../../helpers/initialised-data.ts";
import { until } from "../../outbox/relay/stage.ts";

const copyInitialised = initialiseData();
let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(dataFolder, "headroom-test-"));
  // Open to the server's user, so that the data stays below it and is removed with it.
  await chmod(dataDir, 0o755);
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const remember = (url: string) =>
  withConnection(url, (client) => client.query("create table kept as select 42 as answer"));
const recall = (url: string) =>
  withConnection(url, async (client) => (await client.query("select answer from kept")).rows[0]);
const clusterOf = (home: string) => join(home, "server", "cluster");

describe("a server that keeps its data", () => {
  test("finds it again at the next start, and leaves no process behind", async () => {
    const first = await startEmbedded({ dataDir });
    await remember(first.url);
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);
    expect(existsSync(join(clusterOf(first.home), "postmaster.pid"))).toBe(false);
    await using second = await startEmbedded({ dataDir });
    expect(second.adopted).toBe(false);
    expect(await recall(second.url)).toEqual({ answer: 42 });
  });

  test("admits nobody without the password in a private file, listens on loopback only, and keeps its durability", async () => {
    await copyInitialised(dataDir);
    await using server = await startEmbedded({ dataDir });
    const { mode } = await stat(join(server.home, "server", "password"));
    expect(mode & 0o777).toBe(0o600);
    const stranger = new URL(server.url);
    stranger.password = "";
    const client = new Client({ connectionString: stranger.toString() });
    await expect(client.connect()).rejects.toThrow(/password/);
    await client.end();
    const names = ["listen_addresses", "unix_socket_directories", "fsync", "synchronous_commit", "full_page_writes"];
    const shown = await withConnection(server.url, (session) =>
      session.query("select name, setting from pg_settings where name = any ($1)", [names]),
    );
    expect(
      Object.fromEntries(shown.rows.map((row: { name: string; setting: string }) => [row.name, row.setting])),
    ).toEqual({
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: "on",
      synchronous_commit: "on",
      full_page_writes: "on",
    });
  });

  test("recovers after the server was killed", async () => {
    await copyInitialised(dataDir);
    const first = await startEmbedded({ dataDir });
    await remember(first.url);
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    await first.stop();
    await using second = await startEmbedded({ dataDir });
    expect(await recall(second.url)).toEqual({ answer: 42 });
  });

  test("is refused when its data was made by another version", async () => {
    await startEmbedded({ dataDir, version: 17 }).then((server) => server.stop());
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: "embedded_version_mismatch" });
  });

  test("needs a data folder to be named", async () => {
    await expect(startEmbedded({})).rejects.toMatchObject({ code: "usage" });
  });

  test("gives up when it is cancelled, leaving nothing running", async () => {
    await expect(startEmbedded({ dataDir, signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
    expect(existsSync(join(dataDir, "server"))).toBe(false);
  });

  test("gives up even before the server has entered its folder, and leaves nothing running", async () => {
    await copyInitialised(dataDir);
    const began = join(dataDir, "began");
    const stop = new AbortController();
    const starting = startEmbedded({ dataDir, nativeDir: await slowPrograms(began), signal: stop.signal });
    const outcome = expect(starting).rejects.toMatchObject({ name: "AbortError" });
    const pid = await until(() => readFile(began, "utf8").then(Number, () => 0), Boolean, "the server's process");
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGINT")));
    stop.abort();
    await outcome;
    expect(isAlive(pid)).toBe(false);
  });
});

/** The programs, with a server that sleeps for a second first, after writing its pid to a file. */
async function slowPrograms(began: string): Promise<string> {
  const { initdb, postgres } = await prepareBinaries({ version: 18, runAs: chooseRunAs() });
  const folder = join(dataDir, "slow", "bin");
  await mkdir(folder, { recursive: true });
  await writeFile(began, "");
  await chmod(began, 0o666);
  await symlink(initdb, join(folder, "initdb"));
  const script = ["#!/bin/sh", `[ "$1" = --version ] || { echo $$ > ${began}; sleep 1; }`, `exec ${postgres} "$@"`];
  await writeFile(join(folder, "postgres"), script.join("\n"), { mode: 0o755 });
  return dirname(folder);
}

test("a server is also recognised by a user who may not see its working folder, such as root in a container", async () => {
  await copyInitialised(dataDir);
  await using server = await startEmbedded({ dataDir });
  const folders = [clusterOf(server.home), join(server.home, "server")];
  const asked = (): Promise<boolean[]> => Promise.all(folders.map((folder) => servesFolder(server.pid, folder)));
  expect(await asked()).toEqual([true, false]);
  if (process.getuid?.() === 0) process.seteuid?.(65_534);
  try {
    expect(await asked()).toEqual([true, false]);
  } finally {
    if (process.getuid?.() === 0) process.seteuid?.(0);
  }
});

describe("a server whose starter was killed", () => {
  test("is taken over by the next start, and stopped by it", async () => {
    await copyInitialised(dataDir);
    const killed = await spawnEmbedded({ dataDir });
    await remember(killed.facts.url);
    await killed.end("SIGKILL");
    expect(isAlive(killed.facts.pid)).toBe(true);
    const notices: string[] = [];
    const next = await startEmbedded({ dataDir, onNotice: (text) => notices.push(text) });
    expect(next).toMatchObject({ adopted: true, pid: killed.facts.pid, port: killed.facts.port });
    expect(notices).toEqual([expect.stringContaining("Took over")]);
    expect(await recall(next.url)).toEqual({ answer: 42 });
    await next.stop();
    await next.exited;
    expect(isAlive(killed.facts.pid)).toBe(false);
  });

  test("is cleared away with its folder when it was a throw-away one", async () => {
    const killed = await spawnEmbedded({ ephemeral: true });
    await killed.end("SIGKILL");
    await expect.poll(() => existsSync(killed.facts.home), { timeout: 20_000 }).toBe(false);
    expect(isAlive(killed.facts.pid)).toBe(false);
  });
});

describe("a second start on the same data", () => {
  test("is refused while the first one's process lives, and names that process", async () => {
    await copyInitialised(dataDir);
    const first = await spawnEmbedded({ dataDir });
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({
      code: "already_running",
      message: expect.stringContaining(String(first.child.pid)),
    });
    expect(isAlive(first.facts.pid)).toBe(true);
    await first.end("SIGTERM");
    expect(isAlive(first.facts.pid)).toBe(false);
  });

  test("waits while the first one is shutting down, and then starts", async () => {
    await copyInitialised(dataDir);
    const first = await startEmbedded({ dataDir });
    const [, second] = await Promise.all([first.stop(), startEmbedded({ dataDir })]);
    expect(await withConnection(second.url, async (client) => (await client.query("select 1 as one")).rows)).toEqual([
      { one: 1 },
    ]);
    await second.stop();
  });

  test("at the very same moment leaves one owner and one explained refusal", async () => {
    const results = await Promise.allSettled([startEmbedded({ dataDir }), startEmbedded({ dataDir })]);
    const won = results.filter((result) => result.status === "fulfilled");
    const lost = results.filter((result) => result.status === "rejected");
    await Promise.all(won.map((result) => result.value.stop()));
    expect(won).toHaveLength(1);
    expect(lost).toEqual([{ status: "rejected", reason: expect.objectContaining({ code: "already_running" }) }]);
  });
});

describe("a pid file left by a crash", () => {
  test.each([
    ["of nobody", () => 2 ** 22 - 3],
    ["of a stranger", () => process.pid],
  ])("that names the process %s does not prevent the start", async (_whose, pidOf) => {
    await copyInitialised(dataDir);
    const first = await startEmbedded({ dataDir });
    await first.stop();
    const lines = [pidOf(), clusterOf(first.home), 0, first.port, "", "127.0.0.1", "", "ready", ""];
    await writeFile(join(clusterOf(first.home), "postmaster.pid"), lines.join("\n"));
    await using second = await startEmbedded({ dataDir });
    expect(second.adopted).toBe(false);
  });
});

describe("the port", () => {
  test("that another program has is explained, with the way out", async () => {
    await copyInitialised(dataDir);
    const squatter = createServer();
    await new Promise<void>((fulfil) => squatter.listen(0, "127.0.0.1", fulfil));
    const address = squatter.address();
    const port = address !== null && typeof address === "object" ? address.port : 0;
    await expect(startEmbedded({ dataDir, port })).rejects.toMatchObject({
      code: "port_in_use",
      message: expect.stringContaining(String(port)),
      hint: expect.stringContaining("port 0"),
    });
    await new Promise((fulfil) => squatter.close(fulfil));
    await using server = await startEmbedded({ dataDir, port });
    expect(server.port).toBe(port);
  });
});

describe.each(POSTGRES_VERSIONS)("a throw-away server of PostgreSQL %i", (version) => {
  test("starts, answers, and removes its folder at the end", async () => {
    const server = await startEmbedded({ ephemeral: true, version, settings: { max_connections: 17 } });
    const shown = await withConnection(server.url, (client) =>
      client.query(`select current_setting('server_version_num')::int / 10000 as major, current_setting('max_connections') as max,
                           current_database() as database`),
    );
    expect(shown.rows).toEqual([{ major: version, max: "17", database: "headroom" }]);
    await server.stop();
    expect(existsSync(server.home)).toBe(false);
    expect(isAlive(server.pid)).toBe(false);
  });
});
