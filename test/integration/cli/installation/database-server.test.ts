/** The database of `headroom up` while it is being restarted: stopped at that moment, or with its port taken. */
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDatabaseServer } from "../../../../src/cli/commands/up/database-server.ts";
import { isAlive, readPidFile } from "../../../../src/db/embedded/postmaster.ts";
import { makeEnterableFolder } from "../../../helpers/data-folder.ts";
import { initialiseData } from "../../../helpers/initialised-data.ts";
import { until } from "../../outbox/relay/stage.ts";

const copyInitialised = initialiseData();

async function startServer(onDeath: () => void) {
  const dataDir = await makeEnterableFolder("headroom-again-");
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  await copyInitialised(dataDir);
  const server = await startDatabaseServer({
    url: undefined,
    ephemeral: false,
    dataDir,
    port: 0,
    signal: new AbortController().signal,
    log: ({ event }) => void (event === "database_server_ended" && onDeath()),
    notice: () => undefined,
  });
  return { server, pidFile: () => readPidFile(join(server.home ?? "", "server", "cluster")) };
}

test.each([
  ["before the next process exists", () => true],
  ["when the next process exists", (pid: number | undefined, killed: number) => pid !== undefined && pid !== killed],
  [
    "when the next process is ready and not yet ours",
    (pid: number | undefined, killed: number, ready: boolean) => ready && pid !== killed,
  ],
] as const)("stopped %s, it leaves nothing running", async (_when, reached) => {
  const died = Promise.withResolvers<void>();
  const { server, pidFile } = await startServer(died.resolve);
  const killed = (await pidFile())?.pid ?? 0;
  process.kill(killed, "SIGKILL");
  await died.promise;
  await until(pidFile, (file) => reached(file?.pid, killed, file?.ready === true), "the moment at which it is stopped");
  await server.stop();
  // Long enough for a start that was not given up.
  await expect(until(pidFile, (file) => file !== undefined && file.pid !== killed, "a process", 1_500)).rejects.toThrow(
    "Gave up waiting",
  );
  expect(isAlive(killed)).toBe(false);
});

test("a port that another program has for a moment is waited for", async () => {
  const holder = createServer();
  const { server, pidFile } = await startServer(() => void holder.listen(port, "127.0.0.1"));
  const port = Number(new URL(server.url).port);
  const killed = (await pidFile())?.pid ?? 0;
  process.kill(killed, "SIGKILL");
  await once(holder, "listening");
  const log = () => readFile(join(server.home ?? "", "server", "server.log"), "utf8");
  await until(log, (text) => text.includes("Address already in use"), "the first start to fail");
  holder.close();
  const next = await until(pidFile, (file) => file?.ready === true && file.pid !== killed, "the server to be back");
  expect(next?.port).toBe(port);
  await server.stop();
  expect(isAlive(next?.pid ?? 0)).toBe(false);
});
