/**
 * Folders that the server's user cannot enter. As root, the server runs as another user, who is shut out of them; as an ordinary user it
 * runs as that user, so everything stays where it was put. Both are asserted, whoever runs this.
 */
import { existsSync } from "node:fs";
import { chmod, cp, link, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { prepareBinaries } from "../../../../src/db/embedded/binaries.ts";
import { chooseRunAs } from "../../../../src/db/embedded/system-user.ts";
import { startEmbedded } from "../../../../src/db/embedded.ts";
import { withConnection } from "../../../../src/db/connect.ts";

const asRoot = process.getuid?.() === 0;
const require = createRequire(import.meta.url);
const nativeDir = join(dirname(dirname(require.resolve("pg17"))), "native");

let closed: string;
let cache: string;
beforeEach(async () => {
  closed = await mkdtemp(join(tmpdir(), "headroom-closed-"));
  cache = await mkdtemp(join(tmpdir(), "headroom-cache-"));
  await chmod(closed, 0o700);
  await chmod(cache, 0o755);
});
afterEach(async () => {
  await rm(closed, { recursive: true, force: true });
  await rm(cache, { recursive: true, force: true });
});

/** Programs that only say their version: copying the real ones takes longer than everything else here. */
async function closedPrograms(): Promise<string> {
  const bin = join(closed, "native", "bin");
  await mkdir(bin, { recursive: true });
  for (const name of ["initdb", "postgres"])
    await writeFile(join(bin, name), `#!/bin/sh\necho ${name} 17\n`, { mode: 0o700 });
  return dirname(bin);
}

/** The real programs, by a second name for each file where the file system is the same. */
async function closedRealPrograms(): Promise<string> {
  const copy = join(closed, "native");
  for (const entry of await readdir(nativeDir, { recursive: true, withFileTypes: true })) {
    const from = join(entry.parentPath, entry.name);
    const to = join(copy, relative(nativeDir, from));
    if (entry.isDirectory()) await mkdir(to, { recursive: true });
    else {
      await mkdir(dirname(to), { recursive: true });
      await link(from, to).catch(() => cp(from, to, { verbatimSymlinks: true }));
    }
  }
  return copy;
}

const cachedCopies = async (): Promise<string[]> =>
  existsSync(join(cache, "headroom-postgres")) ? readdir(join(cache, "headroom-postgres")) : [];

test("programs in a closed folder are copied to where the server's user can run them, once", async () => {
  const closedDir = await closedPrograms();
  const options = { version: 17, runAs: chooseRunAs(), nativeDir: closedDir, cacheParents: [cache] } as const;
  const [one, other] = await Promise.all([prepareBinaries(options), prepareBinaries(options)]);
  expect(one).toEqual(other);
  expect(one.postgres.startsWith(asRoot ? cache : closedDir)).toBe(true);
  expect(await cachedCopies()).toHaveLength(asRoot ? 1 : 0);
  const notices: string[] = [];
  await prepareBinaries({ ...options, onNotice: (text) => notices.push(text) });
  expect(notices).toEqual([]);
  expect(await cachedCopies()).toHaveLength(asRoot ? 1 : 0);
});

test("a server starts from programs in a closed folder", async () => {
  await using server = await startEmbedded({
    ephemeral: true,
    version: 17,
    nativeDir: await closedRealPrograms(),
    cacheParents: [cache],
  });
  const answer = await withConnection(server.url, (client) => client.query("select 1 as one"));
  expect(answer.rows).toEqual([{ one: 1 }]);
});

test("a damaged copy is replaced", async () => {
  const closedDir = await closedPrograms();
  const options = { version: 17, runAs: chooseRunAs(), nativeDir: closedDir, cacheParents: [cache] } as const;
  const first = await prepareBinaries(options);
  if (asRoot) await rm(first.postgres);
  const second = await prepareBinaries(options);
  expect(second).toEqual(first);
  expect(existsSync(second.postgres)).toBe(true);
});

test("a cache folder that somebody else could write to is not trusted", async () => {
  await mkdir(join(cache, "headroom-postgres"));
  await chmod(join(cache, "headroom-postgres"), 0o777);
  const binaries = await prepareBinaries({
    version: 17,
    runAs: chooseRunAs(),
    nativeDir: await closedPrograms(),
    cacheParents: [cache],
  });
  expect(binaries.postgres).not.toContain(join(cache, "headroom-postgres", "/"));
});

test("data below a closed folder is kept where the server's user can reach it, and found again", async () => {
  const dataDir = join(closed, "project", ".headroom");
  const notices: string[] = [];
  const first = await startEmbedded({ dataDir, onNotice: (text) => notices.push(text) });
  try {
    await withConnection(first.url, (client) => client.query("create table kept as select 42 as answer"));
    await first.stop();
    expect(first.home === dataDir).toBe(!asRoot);
    if (asRoot) {
      expect(notices).toEqual([expect.stringContaining(first.home)]);
      expect((await readFile(join(dataDir, "location"), "utf8")).trim()).toBe(first.home);
    }
    await using second = await startEmbedded({ dataDir });
    expect(second.home).toBe(first.home);
    const kept = await withConnection(second.url, (client) => client.query("select answer from kept"));
    expect(kept.rows).toEqual([{ answer: 42 }]);
  } finally {
    await first.stop();
    await rm(first.home, { recursive: true, force: true });
  }
  const afterwards = startEmbedded({ dataDir });
  if (asRoot) await expect(afterwards).rejects.toMatchObject({ code: "embedded_data_missing" });
  else await (await afterwards).stop();
});
