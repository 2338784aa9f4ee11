/** A data folder as the first start of a server leaves it, for tests of what comes later: copying it takes a tenth of the CPU of initdb. */
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "vitest";
import { startEmbedded } from "../../src/db/embedded.ts";
import { makeEnterableFolder } from "./data-folder.ts";

/** Call it while tests are being collected. The result copies the data into a folder that exists. */
export function initialiseData(): (dataDir: string) => Promise<void> {
  let folder = "";
  beforeAll(async () => {
    folder = await makeEnterableFolder("headroom-initialised-");
    await startEmbedded({ dataDir: folder }).then((server) => server.stop());
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return async (dataDir) => void (await promisify(execFile)("cp", ["-Rp", join(folder, "server"), dataDir]));
}
