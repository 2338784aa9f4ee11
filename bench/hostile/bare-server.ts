/** A server that does nothing: reads what it is sent and says no. What its being attacked costs others is what sharing a machine costs. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(401).end());
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`http://127.0.0.1:${port}/\n`);
});
