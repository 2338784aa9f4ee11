/**
 * The database server that `headroom up` runs in a data folder, found only by its files, so that the other commands
 * need no address when they run in the same folder.
 */
import { findPlace, readPassword } from "../db/embedded/place.ts";
import { readPidFile, servesFolder } from "../db/embedded/postmaster.ts";

/** The default data folder of `headroom up`. */
export const defaultDataDir = ".headroom";

export interface LocalServer {
  readonly url: string;
  /** The installation's own folder, which has its keys. */
  readonly home: string;
}

/** The server that is running on the folder's data; undefined if there is none, or if we may not read its files. */
export async function findLocalServer(dataDir: string = defaultDataDir): Promise<LocalServer | undefined> {
  const place = await findPlace(dataDir);
  const password = place === undefined ? undefined : await readPassword(place);
  if (place === undefined || password === undefined) return undefined;
  const file = await readPidFile(place.clusterDir);
  if (file?.port === undefined || !(await servesFolder(file.pid, place.clusterDir))) return undefined;
  return { url: `postgresql://postgres:${password}@127.0.0.1:${file.port}/headroom`, home: place.home };
}
