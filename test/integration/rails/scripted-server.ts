/**
 * An HTTP server that answers from a script and records the requests: for a rail's handling of answers that no sandbox would give.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Accepts the request and never answers. */
  readonly silent?: boolean;
  /** Text is sent unchanged; anything else as JSON. */
  readonly body?: unknown;
}

export interface ScriptedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedServer {
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
  /** Answers for the next requests, in turn; without one the answer is 404. */
  readonly script: ScriptedAnswer[];
  close(): Promise<void>;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = [];
  const script: ScriptedAnswer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      requests.push({ method, path, headers, body: Buffer.concat(chunks).toString("utf8") });
      const answer = script.shift() ?? { status: 404, body: "nothing was scripted" };
      if (answer.silent === true) return;
      const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? null);
      const status = answer.status ?? 200;
      response.writeHead(status, { "content-type": "application/json", ...answer.headers });
      response.end(status === 204 ? undefined : text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    script,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
