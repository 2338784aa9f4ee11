/**
 * Opens every port that speaks HTTP: the server's, the sandbox's, a relay's metrics. Incoming bytes become a Request, or are refused here.
 *
 * Owns: the socket, the limits and timeouts that end slow and broken clients, the answer to bytes that are not a request, and clean
 * shutdown. Does not own: the answer to a request. If `hosts` is given, host names are checked here; the server checks them itself, because
 * its refusal depends on the route.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { HeadroomError, nodeCodeOf } from "../db/errors.ts";
import { isAdmitted, type HostPolicy } from "./hosts.ts";

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Answers a request. `wire` has what a Request lacks: who calls, and whether they are still connected. */
  readonly fetch: (request: Request, wire: HttpBindings) => Response | Promise<Response>;
  /** The allowed host names. Default: `fetch` decides. */
  readonly hosts?: HostPolicy | undefined;
  /** What the port is for, in errors: `metrics`, `the sandbox`. Default: not mentioned. */
  readonly purpose?: string | undefined;
  /** The option that chooses the port, in hints. Default: not mentioned. */
  readonly portOption?: string | undefined;
  /** How long a client may take to send its headers. Default: 10,000. */
  readonly headersTimeoutMs?: number | undefined;
  /** How long it may take to send the whole request. Default: 30,000. */
  readonly requestTimeoutMs?: number | undefined;
  /** How long a client may take to read an answer, and as much again for each MiB of it. Default: 10,000. */
  readonly answerTimeoutMs?: number | undefined;
  /** How long an idle connection is kept. Default: 65,000, a little longer than load balancers keep theirs. */
  readonly keepAliveTimeoutMs?: number | undefined;
}

export interface Listener {
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets requests in progress run for `drainMs` (default: 0), and cuts the rest. */
  close(drainMs?: number): Promise<void>;
}

const defaults = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  answerTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
} as const;
const stuckMs = 120_000;
/** Of request line and headers together. */
const maxHeadBytes = 16_384;

export async function openListener(options: ListenerOptions): Promise<Listener> {
  const { host, hosts } = options;
  const requestTimeout = options.requestTimeoutMs ?? defaults.requestTimeoutMs;
  const server = createServer({
    headersTimeout: Math.min(options.headersTimeoutMs ?? defaults.headersTimeoutMs, requestTimeout),
    requestTimeout,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? defaults.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(50, Math.min(1_000, requestTimeout / 4)),
    maxHeaderSize: maxHeadBytes,
  });
  const answer = getRequestListener(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the adapter's type includes HTTP/2, which we do not use
    (request, wire) => options.fetch(request, wire as HttpBindings),
    { hostname: host },
  );
  let draining = false;
  const answerTimeoutMs = options.answerTimeoutMs ?? defaults.answerTimeoutMs;
  /** A connection whose last answer went out while the listener closes is idle from now on, and is closed. */
  const closeIfDraining = (): void => {
    if (draining) setImmediate(() => server.closeIdleConnections());
  };
  const serve = inTurn((incoming, outgoing) => {
    if (draining) outgoing.setHeader("connection", "close");
    outgoing.once("close", closeIfDraining);
    // This is later than the answer if the answer did not wait for the body.
    incoming.once("close", closeIfDraining);
    outgoing.once("prefinish", () => cutUnlessRead(outgoing, answerTimeoutMs));
    if (hosts !== undefined && !isAdmitted(hosts, incoming.url ?? "/", incoming.headers.host)) {
      const body = problem(421, "This server does not answer to the host name in the request.", hosts.hint);
      outgoing.writeHead(421, headersOf(body)).end(body);
      return;
    }
    // The adapter answers errors of `fetch` itself; if it still fails, only this connection is lost.
    Promise.resolve(answer(incoming, outgoing)).catch(() => outgoing.destroy());
  });
  server.on("request", serve);
  server.on("clientError", refuseBrokenRequest);
  // A client that neither sends nor reads for this long is gone or hostile. Live streams send something more often.
  server.setTimeout(stuckMs);
  await listen(server, options);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    async close(drainMs = 0) {
      draining = true;
      await closeWithin(server, drainMs);
    },
  };
}

type Serve = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * One request per connection at a time: answers go out in the order of the requests, and answers made early would fill the
 * memory.
 */
function inTurn(serve: Serve): Serve {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  const begin: Serve = (incoming, outgoing) => {
    outgoing.once("close", () => {
      const next = waiting.get(incoming.socket)?.shift();
      if (next === undefined) waiting.delete(incoming.socket);
      else next();
    });
    serve(incoming, outgoing);
  };
  return (incoming, outgoing) => {
    const queue = waiting.get(incoming.socket);
    if (queue !== undefined) {
      queue.push(() => begin(incoming, outgoing));
      return;
    }
    waiting.set(incoming.socket, []);
    begin(incoming, outgoing);
  };
}

/** The answer is complete; the part that the client has not read yet is kept here. */
function cutUnlessRead(outgoing: ServerResponse, patienceMs: number): void {
  const { socket } = outgoing;
  if (socket === null || socket.writableLength === 0) return;
  const cut = setTimeout(() => socket.destroy(), patienceMs * (1 + socket.writableLength / 1_048_576));
  outgoing.once("close", () => clearTimeout(cut));
}

async function listen(server: Server, { host, port, purpose, portOption }: ListenerOptions): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (cause) {
    const use = purpose === undefined ? "" : ` for ${purpose}`;
    throw new HeadroomError("port_in_use", `Port ${port} on ${host} cannot be used${use}.`, {
      detail: nodeCodeOf(cause),
      hint: `Choose another${portOption === undefined ? "" : ` with ${portOption}`}; 0 takes any free one.`,
      cause,
    });
  }
}

/** Idle connections are closed immediately; requests still in progress after the time limit are cut. */
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

/** Bytes that are not HTTP, or come too slowly, never become a request, so we write the answer to the socket directly. */
function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, reason, title] = brokenRequests[error.code ?? ""] ?? [
    400,
    "Bad Request",
    "This is not an HTTP request.",
  ];
  const body = problem(status, title);
  const headers = Object.entries({ connection: "close", ...headersOf(body) }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end([`HTTP/1.1 ${status} ${reason}`, ...headers, "", body].join("\r\n"));
}

/** Problem details, as the server words its own (src/http/answer/problem.ts). */
function problem(status: number, title: string, hint?: string): string {
  const code = status === 421 ? "wrong_host" : "invalid_input";
  const said = { type: `urn:headroom:problem:${code}`, title, status, code, hint, request_id: "none" };
  return `${JSON.stringify(said)}\n`;
}

function headersOf(body: string): Record<string, string> {
  return {
    "content-type": "application/problem+json",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
  };
}
