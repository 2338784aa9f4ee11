/**
 * The database server that `headroom up` runs in a data folder, found without touching it: so that the other commands work
 * beside it without being told an address.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readPidFile, servesFolder } from "../db/embedded/postmaster.ts";

/** Where `headroom up` keeps its data unless told otherwise. */
export const defaultDataDir = ".headroom";

/** The URL of the server that is running on the folder's data; undefined when there is none, or it is not ours to read. */
export async function findLocalServer(dataDir: string = defaultDataDir): Promise<string | undefined> {
  const wished = resolve(dataDir);
  const pointed = await readText(join(wished, "location"));
  const serverDir = join(pointed ?? wished, "server");
  const password = await readText(join(serverDir, "password"));
  if (password === undefined) return undefined;
  const clusterDir = join(serverDir, "cluster");
  const file = await readPidFile(clusterDir);
  if (file?.port === undefined || !(await servesFolder(file.pid, clusterDir))) return undefined;
  return `postgresql://postgres:${password}@127.0.0.1:${file.port}/headroom`;
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}
