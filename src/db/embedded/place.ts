/**
 * Where a server's files live. In order of preference: below the folder that the caller names; else, when the server's user
 * cannot get there, in a folder of its own with a pointer file left behind.
 *
 * The folder of a server holds `cluster/` (Postgres' own), `password` and `server.log`. It appears under its name all at
 * once, by a rename, so that two first starts at the same moment or a crash inside initdb leave nothing half made.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { HeadroomError } from "../errors.ts";
import type { Binaries, EmbeddedVersion } from "./binaries.ts";
import { canEnter, spawnIdentity, type RunAs } from "./system-user.ts";

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
  const serverDir = join(home, "server");
  return { home, serverDir, clusterDir: join(serverDir, "cluster"), logFile: join(serverDir, "server.log") };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** The place for data that is kept. `notice` is told when the data has to live elsewhere. */
export async function choosePlace(dataDir: string, runAs: RunAs, notice: (text: string) => void): Promise<Place> {
  const wished = resolve(dataDir);
  await mkdir(wished, { recursive: true });
  const pointer = join(wished, pointerName);
  const pointed = await readFile(pointer, "utf8").catch(() => undefined);
  if (pointed !== undefined) return placeBehindPointer(pointer, pointed.trim());
  const reachable = runAs === undefined || canEnter(runAs, wished);
  if (reachable) return placeIn(wished);
  if (await exists(placeIn(wished).clusterDir)) {
    throw new HeadroomError("embedded_unreachable", `User ${runAs.name} can no longer reach the data in ${wished}.`, {
      hint: `Let others pass through the folders above it (chmod o+x), for example: chmod o+x ${dirname(wished)}`,
    });
  }
  const home = await makeHomeElsewhere(wished, runAs);
  // Written exclusively: of two first starts at once, both then use the folder of the one that came first.
  try {
    await writeFile(pointer, `${home}\n`, { flag: "wx" });
  } catch {
    await rm(home, { recursive: true, force: true });
    return placeBehindPointer(pointer, (await readFile(pointer, "utf8")).trim());
  }
  notice(`The database's files are kept in ${home}, because user ${runAs.name} cannot enter ${wished}.`);
  return placeIn(home);
}

async function placeBehindPointer(pointer: string, home: string): Promise<Place> {
  if (await exists(home)) return placeIn(home);
  throw new HeadroomError("embedded_data_missing", `The data folder ${home} is gone.`, {
    detail: `${pointer} says that the database's files are there.`,
    hint: `Bring the folder back, or remove ${pointer} to begin with an empty database.`,
  });
}

async function makeHomeElsewhere(wished: string, runAs: RunAs): Promise<string> {
  const name = `${basename(dirname(wished)) || "data"}-${randomBytes(4).toString("hex")}`;
  for (const parent of ["/var/lib/headroom", "/var/tmp/headroom"]) {
    const home = join(parent, name);
    try {
      await mkdir(home, { recursive: true, mode: 0o755 });
      if (canEnter(runAs, home)) return home;
      await rm(home, { recursive: true, force: true });
    } catch {
      continue;
    }
  }
  throw new HeadroomError("embedded_unreachable", `User ${runAs?.name} cannot reach the data folder ${wished}.`, {
    hint: "Run from a folder that others may enter, or name a data folder that they may enter.",
  });
}

/** A folder that is thrown away at the end, at the first place that the server's user can reach. */
export async function makeThrowAwayPlace(parent: string | undefined, runAs: RunAs): Promise<Place> {
  const parents = parent === undefined ? [tmpdir(), "/tmp", "/var/tmp"] : [resolve(parent)];
  for (const candidate of parents) {
    const home = await mkdtemp(join(candidate, "headroom-")).catch(() => undefined);
    if (home === undefined) continue;
    await chmod(home, 0o711);
    if (runAs === undefined || canEnter(runAs, home)) return placeIn(home);
    await rm(home, { recursive: true, force: true });
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
  /** Leave out the flush to disk: right for throw-away data only. */
  readonly quick: boolean;
}

/** Makes the cluster unless it is there, and returns the superuser's password. */
export async function ensureCluster(options: ClusterOptions): Promise<string> {
  const { place, version } = options;
  if (!(await exists(place.clusterDir))) await makeCluster(options);
  const found = (await readFile(join(place.clusterDir, "PG_VERSION"), "utf8")).trim();
  if (found !== String(version)) {
    throw new HeadroomError("embedded_version_mismatch", `The data in ${place.home} is of Postgres ${found}.`, {
      detail: `This release brings Postgres ${version}, which cannot read it.`,
      hint: "Use the release that made it, or dump and restore it with a server of that version (DATABASE_URL).",
    });
  }
  return (await readFile(join(place.serverDir, "password"), "utf8")).trim();
}

async function makeCluster(options: ClusterOptions): Promise<void> {
  const { place, runAs } = options;
  const draft = `${place.serverDir}.${randomBytes(6).toString("hex")}`;
  const passwordFile = join(draft, "password");
  try {
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordFile, `${randomBytes(24).toString("base64url")}\n`, { mode: 0o600 });
    if (runAs !== undefined) {
      await chown(passwordFile, runAs.uid, runAs.gid);
      await chown(draft, runAs.uid, runAs.gid);
    }
    await runInitdb(options, join(draft, "cluster"), passwordFile);
    // No Unix socket is opened, and only the loopback address is let in: one line is the whole list.
    const hba = "# TYPE DATABASE USER ADDRESS METHOD\nhost all all 127.0.0.1/32 scram-sha-256\n";
    await writeFile(join(draft, "cluster", "pg_hba.conf"), hba);
    await rename(draft, place.serverDir).catch(async (error: unknown) => {
      if (!(await exists(place.clusterDir))) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function runInitdb(options: ClusterOptions, clusterDir: string, passwordFile: string): Promise<void> {
  // The builtin locale sorts by code point and knows Unicode's letters, the same on every machine; it came with 17.
  const locale =
    options.version >= 17 ? ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"] : ["--locale=C"];
  const parameters = [
    `--pgdata=${clusterDir}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--no-instructions",
    ...locale,
    ...(options.quick ? ["--no-sync"] : []),
  ];
  const child = spawn(options.binaries.initdb, parameters, {
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
