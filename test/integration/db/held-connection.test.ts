/** A server that greets and then never answers must not hold whoever waits for a connection, nor whoever closes. */
import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createPool } from "../../../src/db/connect.ts";
import { HeldConnection } from "../../../src/db/held-connection.ts";
import { deferred } from "../../../src/db/wait/deferred.ts";

/** AuthenticationOk and ReadyForQuery. */
const greeting = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

async function silentServer(): Promise<{ readonly url: string; readonly asked: Promise<void> }> {
  const { promise: asked, resolve } = deferred<void>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.once("data", () => resolve());
      socket.write(greeting);
    });
  });
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `postgresql://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/nothing`, asked };
}

test.each([["cut"], ["close"]] as const)("%s gives up a connection that is being opened", async (how) => {
  const { url, asked } = await silentServer();
  const pool = createPool(url);
  const connection = new HeldConnection(pool);
  const used = connection.use(() => Promise.resolve()).catch((error: unknown) => error);
  await asked;
  connection[how]();
  expect(await used).toBeInstanceOf(Error);
  connection.close();
  await pool.end();
});
