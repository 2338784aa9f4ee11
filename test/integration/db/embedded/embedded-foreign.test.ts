/**
 * What the server's user, or the owner of a folder above the data, can make root do: nothing beyond that user's own rights. When run as an
 * ordinary user, the server's user is that user and there is nothing to exploit; the tests still assert that everything works.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findLocalServer } from "../../../../src/cli/local-server.ts";
import { findOwnFolder } from "../../../../src/db/embedded/own-folder.ts";
import { isAlive, servesFolder } from "../../../../src/db/embedded/postmaster.ts";
import { chooseRunAs, shellAs } from "../../../../src/db/embedded/system-user.ts";
import { startEmbedded } from "../../../../src/db/embedded.ts";
import { withConnection } from "../../../../src/db/connect.ts";
import { makeEnterableFolder } from "../../../helpers/data-folder.ts";
import { spawnEmbedded } from "../../../helpers/embedded-process.ts";
import { initialiseData } from "../../../helpers/initialised-data.ts";
import { until } from "../../outbox/relay/stage.ts";

const asRoot = process.getuid?.() === 0;
const runAs = chooseRunAs();
const copyInitialised = initialiseData();

async function makeFolder(): Promise<string> {
  const folder = await makeEnterableFolder("headroom-foreign-");
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A file that does not concern the server's user. */
async function makePrivateFile(folder: string): Promise<string> {
  const file = join(folder, "private");
  await writeFile(file, "kept", { mode: 0o600 });
  return file;
}

/** Acts as the server's user. When run as an ordinary user, that would be us, on our own files. */
async function asServersUser(script: string, ...words: readonly string[]): Promise<void> {
  if (runAs !== undefined) await shellAs(runAs, script, words).catch(() => undefined);
}

const replaceByLink = 'rm -f "$1/$2"; ln -s "$3" "$1/$2"';

const answerOf = (url: string) =>
  withConnection(url, async (client) => (await client.query("select 42 as answer")).rows);

function startBystander(cwd: string) {
  const child = spawn("/bin/sleep", ["600"], { cwd, stdio: "ignore" });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return child.pid ?? 0;
}

test("links that the server's user leaves do not lead root to its own files", async () => {
  const dataDir = await makeFolder();
  const file = await makePrivateFile(dataDir);
  const serverDir = join(dataDir, "server");
  await copyInitialised(dataDir);
  for (const name of ["server.log", "server.log.previous", "password"]) {
    await asServersUser(replaceByLink, serverDir, name, file);
  }
  await startEmbedded({ dataDir }).then((server) => server.stop());
  expect(await readFile(file, "utf8")).toBe("kept");
  // The version is a file in the server's own folder, which only its user may destroy.
  await asServersUser(replaceByLink, serverDir, "cluster/PG_VERSION", file);
  const said = await startEmbedded({ dataDir }).then(
    async (server) => {
      await server.stop();
      return undefined;
    },
    (error: Error) => error.message,
  );
  expect(said).toEqual(asRoot ? expect.stringContaining("unknown version") : undefined);
});

test("a folder that an earlier release gave to the server's user is taken back, without what was planted there", async () => {
  const dataDir = await makeFolder();
  await copyInitialised(dataDir);
  const file = await makePrivateFile(dataDir);
  const serverDir = join(dataDir, "server");
  if (runAs !== undefined) {
    await chown(join(serverDir, "password"), runAs.uid, runAs.gid);
    await chown(serverDir, runAs.uid, runAs.gid);
    await chmod(serverDir, 0o700);
    await asServersUser('rm -f "$1"; ln -s "$2" "$1"', join(serverDir, "server.log"), file);
  }
  await using second = await startEmbedded({ dataDir });
  expect(await answerOf(second.url)).toEqual([{ answer: 42 }]);
  expect(await readFile(file, "utf8")).toBe("kept");
  const owners = await Promise.all(
    ["", "password", "server.log"].map(async (name) => (await lstat(join(serverDir, name))).uid),
  );
  expect(owners).toEqual(Array(3).fill(process.getuid?.()));
  expect((await stat(join(serverDir, "password"))).mode & 0o777).toBe(0o600);
});

test("a password file that names another server is not trusted", async () => {
  const dataDir = await makeFolder();
  await copyInitialised(dataDir);
  await writeFile(join(dataDir, "server", "password"), "x@198.51.100.7:5432/\n");
  await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: "embedded_data_damaged" });
});

test("a process that merely runs in the data folder is not mistaken for the server", async () => {
  const dataDir = await makeFolder();
  await copyInitialised(dataDir);
  await using server = await startEmbedded({ dataDir });
  const clusterDir = join(server.home, "server", "cluster");
  const bystander = startBystander(clusterDir);
  expect([await servesFolder(server.pid, clusterDir), await servesFolder(bystander, clusterDir)]).toEqual([
    true,
    false,
  ]);
});

test("removing a throw-away server signals no unrelated process that its pid file names", async () => {
  const killed = await spawnEmbedded({ ephemeral: true });
  const { home, pid } = killed.facts;
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGQUIT")));
  const bystander = startBystander("/");
  const pidFile = join(home, "server", "cluster", "postmaster.pid");
  await shellAs(runAs, 'echo "$2" >"$1"', [pidFile, String(bystander)]);
  await killed.end("SIGKILL");
  await until(
    () => lstat(home).then(Boolean, () => false),
    (isThere) => !isThere,
    "the folder to be gone",
  );
  expect(isAlive(bystander)).toBe(true);
});

test("in a folder that another user can change, root leaves nothing and keeps the data elsewhere", async () => {
  const parent = await makeFolder();
  if (runAs !== undefined) await chown(parent, runAs.uid, runAs.gid);
  const dataDir = join(parent, ".headroom");
  const notices: string[] = [];
  const first = await startEmbedded({ dataDir, onNotice: (text) => notices.push(text) });
  onTestFinished(() => rm(first.home, { recursive: true, force: true }));
  await withConnection(first.url, (client) => client.query("create table kept as select 42 as answer"));
  expect(await findLocalServer(dataDir)).toMatchObject({ url: first.url, home: first.home });
  await first.stop();
  expect(first.home === dataDir).toBe(!asRoot);
  expect(await readdir(parent)).toEqual(asRoot ? [] : [".headroom"]);
  expect(notices).toEqual(asRoot ? [expect.stringContaining(first.home)] : []);
  await using second = await startEmbedded({ dataDir });
  const kept = await withConnection(second.url, (client) => client.query("select answer from kept"));
  expect(kept.rows).toEqual([{ answer: 42 }]);
});

test("root does not open data in a folder that another user can change, and says why", async () => {
  const parent = await makeFolder();
  const dataDir = join(parent, ".headroom");
  await mkdir(dataDir);
  await copyInitialised(dataDir);
  await using server = await startEmbedded({ dataDir });
  expect(await findLocalServer(dataDir)).toMatchObject({ url: server.url });
  if (runAs !== undefined) await chown(parent, runAs.uid, runAs.gid);
  const found = await findLocalServer(dataDir);
  expect(found?.url).toBe(asRoot ? undefined : server.url);
  await expect(startEmbedded({ dataDir })).rejects.toMatchObject(
    asRoot
      ? { code: "embedded_foreign_folder", hint: expect.stringContaining(`chown root ${parent}`) }
      : { code: "already_running" },
  );
});

test.each([
  ["of another user", 0o755, true],
  ["that everybody can write to", 0o777, false],
] as const)(
  "root opens no file below a folder %s, not even behind a link to a safe one",
  async (_whose, mode, given) => {
    const parent = await makeFolder();
    const [open, safe] = [join(parent, "open"), join(parent, "safe")];
    await Promise.all([mkdir(open), mkdir(safe)]);
    await symlink(safe, join(open, "link"));
    await symlink(safe, join(parent, "link"));
    await chmod(open, mode);
    if (given && runAs !== undefined) await chown(open, runAs.uid, runAs.gid);
    const look = (folder: string) => findOwnFolder(join(parent, folder), { make: false });
    const refused = asRoot ? { foreign: open } : { path: join(parent, "open", "link") };
    expect(await look("open/link")).toMatchObject(refused);
    expect(await look("link/new")).toMatchObject({ path: join(parent, asRoot ? "safe" : "link", "new") });
  },
);
