/** A free port, for servers whose address must be known before they listen, because links and cookies contain it. */
import { once } from "node:events";
import { createServer } from "node:net";

export async function freePort(host: string): Promise<number> {
  const listener = createServer();
  listener.listen(0, host);
  await once(listener, "listening");
  const address = listener.address();
  listener.close();
  await once(listener, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
