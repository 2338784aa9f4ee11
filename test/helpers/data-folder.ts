/**
 * Where the servers of tests keep their data: in memory if there is room, because creating a database from a template is many times slower
 * on a disk and the tests are the same.
 */
import { statfsSync } from "node:fs";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";

/** Three servers of the run, and those that single tests start, with some of the files that they leave until they are stopped. */
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
 * A new folder in there that the server's user may enter. If that fails, the data is kept on a disk elsewhere, and stays when the
 * folder is removed.
 */
export async function makeEnterableFolder(prefix: string): Promise<string> {
  const folder = await mkdtemp(join(dataFolder, prefix));
  await chmod(folder, 0o711);
  return folder;
}
