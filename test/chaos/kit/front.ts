/**
 * Stands in front of the server, like a load balancer: one address for servers that come and go. It answers 502 while there is none, or
 * when a server dies during a call.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Front {
  readonly url: string;
  /** The server's address from now on; undefined if there is none. */
  pointTo(port: number | undefined): void;
  /** What happens to a call: it is passed on; lost, which is answered with 502; or passed on twice, and the second answer is returned. */
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
        // Redirects are for the browser to follow.
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

/** Headers of the connection, not of the call, are left out. */
function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    if (/^(x-|content-type$|user-agent$|stripe-signature$)/.test(name)) headers.set(name, raw[at + 1] ?? "");
  }
  return headers;
}
