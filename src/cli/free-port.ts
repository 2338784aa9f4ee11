/** A port that nobody listens on, for servers whose address must be known before they listen: links and cookies hold it. */
import { once } from "node:events";
import { createServer } from "node:net";

export async function freePort(host: string): Promise<number> {
  const probe = createServer();
  probe.listen(0, host);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
