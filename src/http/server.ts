/**
 * Listens, and comes to an orderly end.
 *
 * Owns: the socket, the time-outs that end slow clients, and draining. Does not own: what is answered (app.ts).
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { HeadroomError, nodeCodeOf } from "../db/errors.ts";
import type { App } from "./app.ts";
import { describeProblem, problemType } from "./problem.ts";

export interface ServerOptions {
  readonly app: App;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** When aborted, the server drains. */
  readonly signal?: AbortSignal | undefined;
  /** How long a client may take to send its headers. Default: 10,000. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long it may take to send the whole request. Default: 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long an idle connection is kept. Default: 65,000, a little longer than load balancers keep theirs. */
  readonly keepAliveTimeoutMs?: number | undefined;
  /** How long requests under way may take when the server stops. Default: 10,000. */
  readonly drainMs?: number | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets requests under way and answers still owed finish within the bound, and closes. */
  stop(): Promise<void>;
}

const defaults = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveTimeoutMs: 65_000,
  drainMs: 10_000,
} as const;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { app, host, port, signal } = options;
  const requestTimeout = options.requestTimeoutMs ?? defaults.requestTimeoutMs;
  const server = createServer({
    headersTimeout: Math.min(options.headersTimeoutMs ?? defaults.headersTimeoutMs, requestTimeout),
    requestTimeout,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? defaults.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(1_000, requestTimeout / 4)),
  });
  const listener = getRequestListener(
    (request, env) => app.fetch(request, { address: env.incoming.socket.remoteAddress }),
    { hostname: host },
  );
  server.on("request", (incoming, outgoing) => {
    if (draining) outgoing.setHeader("connection", "close");
    // A connection whose last answer went out while the server drains is idle from now on, and not kept.
    outgoing.once("close", () => {
      if (draining) setImmediate(() => server.closeIdleConnections());
    });
    void listener(incoming, outgoing);
  });
  server.on("clientError", refuseBrokenRequest);
  let draining = false;
  await listen(server, host, port);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    draining = true;
    app.drain();
    return (stopping ??= endWithin(server, app, options.drainMs ?? defaults.drainMs));
  };
  if (signal !== undefined) {
    const onAbort = (): void => void stop();
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  }
  const address = server.address();
  const actual = typeof address === "object" && address !== null ? address.port : port;
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${actual}`, port: actual, stop };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new HeadroomError("port_in_use", `Port ${port} on ${host} cannot be used.`, {
      detail: nodeCodeOf(cause),
      hint: "Choose another with --port; 0 takes any free one.",
      cause,
    });
  }
}

/** Connections come first, since a request under way may leave an answer owed. */
async function endWithin(server: Server, app: App, drainMs: number): Promise<void> {
  const until = performance.now() + drainMs;
  await closeWithin(server, drainMs);
  const over = new AbortController();
  const left = Math.max(0, until - performance.now());
  const timeUp = delay(left, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([app.settled(), timeUp]);
  over.abort();
}

/** Idle connections are closed at once; what is still under way when the time is over is cut. */
async function closeWithin(server: Server, drainMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), drainMs);
  try {
    await closed;
  } finally {
    clearTimeout(cut);
  }
}

const brokenRequests: Readonly<Record<string, readonly [status: number, reason: string, title: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, "Request Timeout", "The request took too long to arrive."],
  HPE_HEADER_OVERFLOW: [431, "Request Header Fields Too Large", "The headers are too large."],
};

/** What is no HTTP, or comes too slowly, never becomes a request; the answer is written by hand. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, title] = brokenRequests[error.code ?? ""] ?? [400, "Bad Request", "This is no HTTP request."];
  const problem = describeProblem(new HeadroomError("invalid_input", title, { httpStatus: status }), "none");
  const body = `${JSON.stringify(problem)}\n`;
  socket.end(
    [
      `HTTP/1.1 ${status} ${reason}`,
      "connection: close",
      `content-type: ${problemType}`,
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
}
