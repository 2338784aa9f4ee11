/** The database of `headroom up` that is stopped while it is being started again. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDatabaseServer } from "../../../../src/cli/commands/up/database-server.ts";
import { isAlive, readPidFile } from "../../../../src/db/embedded/postmaster.ts";
import { makeEnterableFolder } from "../../../helpers/data-folder.ts";
import { until } from "../../outbox/relay/stage.ts";

test.each([
  ["before the next process is there", () => true],
  ["when the next process is there", (pid: number | undefined, killed: number) => pid !== undefined && pid !== killed],
  [
    "when the next process is ready and not yet ours",
    (pid: number | undefined, killed: number, ready: boolean) => ready && pid !== killed,
  ],
] as const)("stopped %s, it leaves nothing running", async (_when, reached) => {
  const dataDir = await makeEnterableFolder("headroom-again-");
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const died = Promise.withResolvers<void>();
  const server = await startDatabaseServer({
    url: undefined,
    ephemeral: false,
    dataDir,
    port: 0,
    signal: new AbortController().signal,
    log: () => died.resolve(),
    notice: () => undefined,
  });
  const pidFile = () => readPidFile(join(server.home ?? "", "server", "cluster"));
  const killed = (await pidFile())?.pid ?? 0;
  process.kill(killed, "SIGKILL");
  await died.promise;
  await until(pidFile, (file) => reached(file?.pid, killed, file?.ready === true), "the moment at which it is stopped");
  await server.stop();
  // Long enough for a start that nobody gave up.
  await expect(until(pidFile, (file) => file !== undefined && file.pid !== killed, "a process", 1_500)).rejects.toThrow(
    "Waited in vain",
  );
  expect(isAlive(killed)).toBe(false);
});
