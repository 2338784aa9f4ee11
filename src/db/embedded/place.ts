/**
 * Where a server's files live. Preferably below the folder that the caller names; if the server's user cannot
 * get there, in a separate folder, with a pointer file left behind.
 *
 * The folder of a server holds `cluster/` (Postgres' own), `password` and `server.log`. It gets its name by a
 * rename when it is complete, so that two first starts at the same time or a crash inside initdb leave nothing half made.
 *
 * When run as root, everything but `cluster/` belongs to root, and so do the folders above: the server's user cannot put a link where root
 * opens a file. Root works in `cluster/` as that user.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, lchown, lstat, mkdir, mkdtemp, open, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { HeadroomError } from "../errors.ts";
import { sha256 } from "../hash.ts";
import type { Binaries, EmbeddedVersion } from "./binaries.ts";
import { findOwnFolder } from "./own-folder.ts";
import { canEnter, ownerOf, readAs, shellAs, spawnIdentity, type RunAs } from "./system-user.ts";

export interface Place {
  /** Holds `server/`. */
  readonly home: string;
  readonly serverDir: string;
  readonly clusterDir: string;
  readonly logFile: string;
}

const superuser = "postgres";
const pointerName = "location";

function placeIn(home: string): Place {
  return placeOf(join(home, "server"), home);
}

function placeOf(serverDir: string, home: string): Place {
  return { home, serverDir, clusterDir: join(serverDir, "cluster"), logFile: join(serverDir, "server.log") };
}

/** False for a link to a folder. */
async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );
}

/** Where an earlier start left the data of that folder; undefined if there was none, or if root may not read there. */
export async function findPlace(dataDir: string): Promise<Place | undefined> {
  const wished = await findOwnFolder(dataDir, { make: false });
  if ("path" in wished) {
    const pointed = await readFile(join(wished.path, pointerName), "utf8").catch(() => undefined);
    if (pointed === undefined) return placeIn(wished.path);
    const home = await findOwnFolder(pointed.trim(), { make: false });
    return "path" in home ? placeIn(home.path) : undefined;
  }
  for (const parent of parentsElsewhere) {
    const home = await findOwnFolder(join(parent, nameElsewhere(dataDir)), { make: false });
    if ("path" in home && (await isFolder(home.path))) return placeIn(home.path);
  }
  return undefined;
}

/** The place for data that is kept. Calls `notice` when the data has to be elsewhere. */
export async function choosePlace(dataDir: string, runAs: RunAs, notice: (text: string) => void): Promise<Place> {
  const found = await findOwnFolder(dataDir, { make: true });
  if ("foreign" in found) return placeForForeign(dataDir, found, runAs, notice);
  const wished = found.path;
  const pointer = join(wished, pointerName);
  const pointed = await readFile(pointer, "utf8").catch(() => undefined);
  if (pointed !== undefined) return placeBehindPointer(pointer, pointed.trim());
  const reachable = runAs === undefined || canEnter(runAs, wished);
  if (reachable) return placeIn(wished);
  if (await isFolder(placeIn(wished).clusterDir)) {
    throw new HeadroomError("embedded_unreachable", `User ${runAs.name} can no longer reach the data in ${wished}.`, {
      hint: `Let others pass through the folders above it (chmod o+x), for example: chmod o+x ${dirname(wished)}`,
    });
  }
  const name = `${basename(dirname(wished)) || "data"}-${randomBytes(4).toString("hex")}`;
  const home = await makeHomeElsewhere(wished, name, runAs);
  // Written exclusively, so that two first starts at the same time both use the folder of the first.
  try {
    await writeFile(pointer, `${home}\n`, { flag: "wx" });
  } catch {
    await rmdir(home);
    return placeBehindPointer(pointer, (await readFile(pointer, "utf8")).trim());
  }
  notice(`The database's files are kept in ${home}, because user ${runAs.name} cannot enter ${wished}.`);
  return placeIn(home);
}

async function placeBehindPointer(pointer: string, home: string): Promise<Place> {
  const found = await findOwnFolder(home, { make: false });
  if ("foreign" in found) throw foreignData(home, found);
  if (await isFolder(found.path)) return placeIn(found.path);
  throw new HeadroomError("embedded_data_missing", `The data folder ${home} is gone.`, {
    detail: `${pointer} says that the database's files are there.`,
    hint: `Bring the folder back, or remove ${pointer} to begin with an empty database.`,
  });
}

interface Foreign {
  readonly foreign: string;
  readonly uid: number;
}

/** Root leaves nothing in another user's folder, not even a pointer: the other folder's name is derived from this one's. */
async function placeForForeign(
  dataDir: string,
  found: Foreign,
  runAs: RunAs,
  notice: (text: string) => void,
): Promise<Place> {
  const wished = resolve(dataDir);
  if (await isFolder(placeIn(wished).serverDir)) throw foreignData(wished, found);
  const known = await findPlace(dataDir);
  if (known !== undefined) return known;
  const home = await makeHomeElsewhere(wished, nameElsewhere(dataDir), runAs);
  notice(`The database's files are kept in ${home}, because users other than root can change ${found.foreign}.`);
  return placeIn(home);
}

function foreignData(home: string, { foreign, uid }: Foreign): HeadroomError {
  const whose = uid === 0 ? "others than root" : `the user with id ${uid}`;
  return new HeadroomError("embedded_foreign_folder", `Root does not open the data in ${home}.`, {
    detail: `${foreign} can be changed by ${whose}, who could put links there to any file.`,
    hint: `Run it as that user. Or give the folder to root alone: chown root ${foreign}; chmod go-w ${foreign}. Or name another folder (--data-dir). Nothing was changed.`,
  });
}

const parentsElsewhere = ["/var/lib/headroom", "/var/tmp/headroom"];

function nameElsewhere(dataDir: string): string {
  const wished = resolve(dataDir);
  return `${basename(dirname(wished)) || "data"}-${sha256(wished).slice(0, 12)}`;
}

async function makeHomeElsewhere(wished: string, name: string, runAs: RunAs): Promise<string> {
  for (const parent of parentsElsewhere) {
    const home = await findOwnFolder(join(parent, name), { make: true }).catch(() => undefined);
    if (home === undefined || "foreign" in home) continue;
    if (canEnter(runAs, home.path)) return home.path;
    await rmdir(home.path).catch(() => undefined);
  }
  throw new HeadroomError("embedded_unreachable", `User ${runAs?.name} cannot reach the data folder ${wished}.`, {
    hint: "Run from a folder that others may enter, or name a data folder that they may enter.",
  });
}

/** A temporary folder, in the first place that the server's user can reach. */
export async function makeThrowAwayPlace(parent: string | undefined, runAs: RunAs): Promise<Place> {
  const parents = parent === undefined ? [tmpdir(), "/tmp", "/var/tmp"] : [resolve(parent)];
  for (const candidate of parents) {
    const found = await findOwnFolder(candidate, { make: false });
    if ("foreign" in found) continue;
    const home = await mkdtemp(join(found.path, "headroom-")).catch(() => undefined);
    if (home === undefined) continue;
    // Readable, because the cleanup process looks for the server's files as the server's user.
    await chmod(home, runAs === undefined ? 0o700 : 0o755);
    if (runAs === undefined || canEnter(runAs, home)) return placeIn(home);
    await rmdir(home);
  }
  throw new HeadroomError("embedded_unreachable", `There is no temporary folder that user ${runAs?.name} can enter.`, {
    detail: `Tried ${parents.join(", ")}.`,
    hint: "Set TMPDIR to a folder that others may enter.",
  });
}

export interface ClusterOptions {
  readonly place: Place;
  readonly binaries: Binaries;
  readonly version: EmbeddedVersion;
  readonly runAs: RunAs;
  /** Leave out the flush to disk: only for temporary data. */
  readonly quick: boolean;
}

/** Makes the cluster unless it is there, and returns the superuser's password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { place, version, runAs } = options;
  if (runAs !== undefined) await takeServerDir(place, runAs);
  if (!(await isFolder(place.clusterDir))) await makeCluster(options);
  const versionFile = join(place.clusterDir, "PG_VERSION");
  const found = ((await readAs(await ownerOf(place.clusterDir), versionFile)) ?? "unknown version").trim();
  if (found !== String(version)) {
    throw new HeadroomError("embedded_version_mismatch", `The data in ${place.home} is of Postgres ${found}.`, {
      detail: `This release brings Postgres ${version}, which cannot read it.`,
      hint: "Use the release that made it, or dump and restore it with a server of that version (DATABASE_URL).",
    });
  }
  return checkedPassword(await readFile(passwordFileOf(place), "utf8"), place);
}

function passwordFileOf(place: Place): string {
  return join(place.serverDir, "password");
}

/** It becomes part of a URL, in which other characters could name another server. */
function checkedPassword(password: string | undefined, place: Place): string {
  const trimmed = password?.trim() ?? "";
  if (/^[\w-]{16,128}$/.test(trimmed)) return trimmed;
  throw new HeadroomError(
    "embedded_data_damaged",
    `The file ${passwordFileOf(place)} does not contain a password that Headroom made.`,
    {
      hint: "Bring it back from a backup, or name another data folder to begin with an empty database.",
    },
  );
}

/** The superuser's password of a server that an earlier start made; undefined if we may not read it. */
export async function readPassword(place: Place): Promise<string | undefined> {
  const owner = await ownerOf(place.serverDir).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return undefined;
  const found = await readFile(passwordFileOf(place), "utf8").catch(() => undefined);
  return found === undefined ? undefined : checkedPassword(found, place);
}

/**
 * Earlier releases gave the whole folder to the server's user. Root takes it back, after which nothing in it can be replaced; its files are
 * read as that user for the last time.
 */
async function takeServerDir(place: Place, runAs: NonNullable<RunAs>): Promise<void> {
  const info = await lstat(place.serverDir).catch(() => undefined);
  if (info === undefined || (info.isDirectory() && info.uid === 0)) return;
  if (!info.isDirectory()) throw foreignData(place.home, { foreign: place.serverDir, uid: info.uid });
  const password = checkedPassword(await readAs(runAs, passwordFileOf(place)), place);
  await lchown(place.serverDir, 0, 0);
  await chmod(place.serverDir, enterable);
  await rm(passwordFileOf(place), { force: true });
  await writeFile(passwordFileOf(place), `${password}\n`, { mode: 0o600, flag: "wx" });
  await rename(place.logFile, `${place.logFile}.previous`).catch(() => undefined);
}

/** For a folder of root through which the server's user reaches its own. */
const enterable = 0o711;

async function makeCluster(options: ClusterOptions): Promise<void> {
  const { place, runAs } = options;
  const draft = placeOf(`${place.serverDir}.${randomBytes(6).toString("hex")}`, place.home);
  try {
    await mkdir(draft.serverDir, { mode: runAs === undefined ? 0o700 : enterable });
    await mkdir(draft.clusterDir, { mode: 0o700 });
    if (runAs !== undefined) await lchown(draft.clusterDir, runAs.uid, runAs.gid);
    const password = await open(passwordFileOf(draft), "wx", 0o600);
    try {
      await password.write(`${randomBytes(24).toString("base64url")}\n`);
      // initdb reads it too, but may not write it: a file that it kept open could be changed later.
      if (runAs !== undefined) {
        await password.chown(0, runAs.gid);
        await password.chmod(0o640);
      }
      await runInitdb(options, draft);
      if (runAs !== undefined) await password.chown(0, 0);
      await password.chmod(0o600);
    } finally {
      await password.close();
    }
    await rename(draft.serverDir, place.serverDir).catch(async (error: unknown) => {
      if (!(await isFolder(place.clusterDir))) throw error;
    });
  } finally {
    await removeDraft(draft, runAs);
  }
}

/** The server's user could change its files while we remove them, so that user removes them. */
async function removeDraft(draft: Place, runAs: RunAs): Promise<void> {
  if (runAs !== undefined && (await isFolder(draft.clusterDir))) {
    await shellAs(runAs, 'rm -rf -- "$1" 2>/dev/null || true', [draft.clusterDir]);
    await rmdir(draft.clusterDir);
  }
  await rm(draft.serverDir, { recursive: true, force: true });
}

/** There is no Unix socket, and only the loopback address is allowed: one line is the whole list. */
const hba = "# TYPE DATABASE USER ADDRESS METHOD\nhost all all 127.0.0.1/32 scram-sha-256\n";

async function runInitdb(options: ClusterOptions, draft: Place): Promise<void> {
  // The builtin locale (from 17 on) sorts by code point and knows Unicode's letters, the same on every machine.
  const locale =
    options.version >= 17 ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"] : ["--locale=C"];
  const parameters = [
    `--pgdata=${draft.clusterDir}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFileOf(draft)}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-instructions",
    ...locale,
    ...(options.quick ? ["--no-sync"] : []),
  ];
  const script = 'file=$1; list=$2; shift 2; "$@" && printf %s "$list" >"$file"';
  const words = [join(draft.clusterDir, "pg_hba.conf"), hba, options.binaries.initdb, ...parameters];
  const child = spawn("/bin/sh", ["-c", script, "initdb", ...words], {
    ...spawnIdentity(options.runAs),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<number | null>((fulfil, reject) => {
    child.once("error", reject);
    child.once("close", fulfil);
  });
  const [said, status] = await Promise.all([text(child.stderr), ended]);
  if (status === 0) return;
  throw new HeadroomError("embedded_init_failed", "The embedded Postgres could not make its data folder.", {
    detail: said.trim(),
    hint: "Check free disk space and the rights on the data folder.",
  });
}
