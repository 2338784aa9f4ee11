/**
 * The database server that `headroom up` runs in a data folder, found by its files alone, so that the other commands
 * need no address when they run in the same folder.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readPidFile, servesFolder } from "../db/embedded/postmaster.ts";

/** Where `headroom up` keeps its data unless told otherwise. */
export const defaultDataDir = ".headroom";

export interface LocalServer {
  readonly url: string;
  /** Where the installation keeps what belongs to it, its keys included. */
  readonly home: string;
}

/** The server that is running on the folder's data; undefined when there is none, or it is not ours to read. */
export async function findLocalServer(dataDir: string = defaultDataDir): Promise<LocalServer | undefined> {
  const wanted = resolve(dataDir);
  const home = (await readText(join(wanted, "location"))) ?? wanted;
  const serverDir = join(home, "server");
  const password = await readText(join(serverDir, "password"));
  if (password === undefined) return undefined;
  const clusterDir = join(serverDir, "cluster");
  const file = await readPidFile(clusterDir);
  if (file?.port === undefined || !(await servesFolder(file.pid, clusterDir))) return undefined;
  return { url: `postgresql://postgres:${password}@127.0.0.1:${file.port}/headroom`, home };
}

async function readText(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").then(
    (text) => text.trim(),
    () => undefined,
  );
}
