/**
 * A race that chaos runs found: a server that greets a new connection and dies immediately. A process that was slow to
 * read gets both messages in one piece, and the driver hands out the connection before anybody can listen for its error.
 */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createPool } from "../../src/db/connect.ts";

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const welcome = [message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))];
const lastWords = message("E", Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0"));

it("a server that greets and dies in one breath does not end the process", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([...welcome, lastWords])));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pool = createPool(`postgresql://nobody:nothing@127.0.0.1:${port}/none`);
  try {
    const client = await pool.connect();
    await expect(client.query("select 1")).rejects.toThrow(/terminat|not queryable/);
    client.release(true);
  } finally {
    await pool.end();
    server.close();
  }
});
