/**
 * Folders in which root may open files by name: no other user can change what a name in them, or in a folder above them, refers to.
 *
 * In another user's folder any name can become a link between check and use, so a check of the last name proves nothing about those
 * before it. Users other than root do not need this: a link leads them only to what they may change anyway.
 */
import type { Stats } from "node:fs";
import { lstat, mkdir, readlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { nodeCodeOf } from "../errors.ts";

/** `path` has no links in it. `foreign` is the first part of the path that user `uid`, or a group, can change. */
export type FolderFound = { readonly path: string } | { readonly foreign: string; readonly uid: number };

export interface FolderOptions {
  /** Makes what is missing. Without it, the path of a missing folder is returned as well. */
  readonly make: boolean;
}

/** The limit in Linux. */
const maxLinks = 40;
const writableByOthers = 0o022;
const sticky = 0o1000;

export async function findOwnFolder(folder: string, options: FolderOptions): Promise<FolderFound> {
  const wished = resolve(folder);
  if (process.getuid?.() !== 0) {
    if (options.make) await mkdir(wished, { recursive: true });
    return { path: wished };
  }
  let at = "/";
  let links = 0;
  for (let rest = namesOf(wished); ;) {
    const [name, ...others] = rest;
    if (name === undefined) return { path: at };
    rest = others;
    const next = name === ".." ? dirname(at) : join(at, name);
    const info = await lookAt(next, options);
    if (info === undefined) return { path: join(next, ...rest) };
    const { uid, mode } = info;
    // The owner of a link in a sticky folder can replace it. Its mode says nothing.
    const isSafe = uid === 0 && (info.isSymbolicLink() || (mode & writableByOthers) === 0 || (mode & sticky) !== 0);
    if (!isSafe) return { foreign: next, uid };
    if (!info.isSymbolicLink()) {
      at = next;
      continue;
    }
    const target = await readlink(next);
    if ((links += 1) > maxLinks) return { foreign: next, uid };
    if (target.startsWith("/")) at = "/";
    rest = [...namesOf(target), ...rest];
  }
}

/** Each folder is made alone and checked afterwards: below /tmp another user may have been quicker. */
async function lookAt(path: string, { make }: FolderOptions): Promise<Stats | undefined> {
  for (let isMade = false; ; isMade = true) {
    try {
      return await lstat(path);
    } catch (error) {
      if (nodeCodeOf(error) !== "ENOENT" || isMade) throw error;
      if (!make) return undefined;
    }
    await mkdir(path, { mode: 0o755 }).catch((error: unknown) => {
      if (nodeCodeOf(error) !== "EEXIST") throw error;
    });
  }
}

function namesOf(path: string): string[] {
  return path.split("/").filter((name) => name !== "" && name !== ".");
}
