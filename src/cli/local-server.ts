/**
 * The database server that `headroom up` runs in a data folder, found by its files alone, so that the other commands
 * need no address when they run in the same folder.
 */
import { findPlace, readPassword } from "../db/embedded/place.ts";
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
  const place = await findPlace(dataDir);
  const password = place === undefined ? undefined : await readPassword(place);
  if (place === undefined || password === undefined) return undefined;
  const file = await readPidFile(place.clusterDir);
  if (file?.port === undefined || !(await servesFolder(file.pid, place.clusterDir))) return undefined;
  return { url: `postgresql://postgres:${password}@127.0.0.1:${file.port}/headroom`, home: place.home };
}
