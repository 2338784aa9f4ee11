/**
 * Where the servers of tests keep their data: in memory where there is room, because making a database from a template costs many times more
 * on a disk, and what is tested is the same.
 */
import { statfsSync } from "node:fs";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";

/** Three servers of the run, and those that single tests start, with some of what they leave behind until they are stopped. */
const roomNeeded = 3 * 1024 ** 3;

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > roomNeeded;
  } catch {
    return false;
  }
}

export const dataFolder: string = hasRoom(memory) ? memory : tmpdir();

/**
 * A folder of one's own in there that the server's user may enter. Where it may not, the data is kept elsewhere, on a disk, and stays when the
 * folder goes.
 */
export async function makeEnterableFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(dataFolder, prefix));
  await chmod(folder, 0o711);
  return folder;
}
