/**
 * What stands before the server, as a load balancer does: one address for servers that come and go, and 502 while there is none, or when one
 * dies with a call in its hands.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Front {
  readonly url: string;
  /** Where the server is from now on; undefined: there is none. */
  pointTo(port: number | undefined): void;
  /** What becomes of a call: it is passed on; lost, which is answered with 502; or passed on twice, and the second answer is handed back. */
  treat: (path: string, body: string) => "pass" | "lose" | "twice";
  close(): Promise<void>;
}

export async function startFront(): Promise<Front> {
  let upstream: number | undefined;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void reply(request, Buffer.concat(chunks), response));
  });

  async function reply(request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> {
    const path = request.url ?? "/";
    const treatment = front.treat(path, body.toString());
    const headers = headersOf(request.rawHeaders);
    if (treatment === "twice") await passOn(path, headers, body);
    const passed = treatment === "lose" ? lost : await passOn(path, headers, body);
    response.writeHead(passed.status, { "content-type": "application/json" }).end(passed.body);
  }

  async function passOn(path: string, headers: Headers, body: Buffer): Promise<{ status: number; body: string }> {
    try {
      if (upstream === undefined) throw new Error("no server is up");
      const answer = await fetch(`http://127.0.0.1:${upstream}${path}`, {
        method: "POST",
        headers,
        body,
        // Where a browser is led on to is not this front's business.
        redirect: "manual",
      });
      return { status: answer.status, body: await answer.text() };
    } catch {
      return lost;
    }
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pointTo(port) {
      upstream = port;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
    treat: () => "pass",
  };
  return front;
}

const lost = { status: 502, body: "{}" };

/** Those that belong to the connection, and not to the call, are left out. */
function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    if (/^(x-|content-type$|user-agent$|stripe-signature$)/.test(name)) headers.set(name, raw[at + 1] ?? "");
  }
  return headers;
}
