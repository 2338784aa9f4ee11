/**
 * A webhook receiver that misbehaves on request, for the rail tests and the chaos runs.
 *
 * Owns: a real HTTP (or HTTPS) server on loopback, the record of what it saw, and the faults. Usable in the same process (`startReceiver`)
 * and in a separate one (`spawnReceiver` in receiver-client.ts).
 */
import { EventEmitter, once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Server as NetServer, Socket } from "node:net";
import { createFaultScript, hasEffect } from "./receiver-faults.ts";
import type { Fault, FaultPlan, FaultScript } from "./receiver-faults.ts";
import { isSigned, RecordBook } from "./receiver-record.ts";
import type { ReceivedRequest } from "./receiver-record.ts";

export interface ReceiverOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Secrets that signatures may be made with; none: signatures are not checked. Default: none. */
  readonly secrets?: readonly string[];
  /** How far a signature's time may be off; null for any, as when a worker's clock is wrong. Default: 300. */
  readonly toleranceSeconds?: number | null;
  /** False omits headers from the record, for long runs. Default: true. */
  readonly keepHeaders?: boolean;
  readonly faults?: FaultPlan;
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export interface Receiver {
  /** Without a path; any path is served. */
  readonly url: string;
  readonly port: number;
  readonly script: FaultScript;
  readonly book: RecordBook;
  setSecrets(secrets: readonly string[]): void;
  /** Resolves when that many requests with this id were received (or cut off, for `close`). */
  received(webhookId: string, times?: number): Promise<void>;
  /** Answers all requests that `late` holds back, and counts them. */
  release(): number;
  /** Refuses new connections and cuts the existing ones, until `listen`. */
  refuse(): Promise<void>;
  listen(): Promise<void>;
  close(): Promise<void>;
}

const maxBodyBytes = 8 * 1024 * 1024;
const patienceMs = 10_000;

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const desk = new Desk(options);
  const listener: RequestListener = (request, response) => void desk.serve(request, response);
  const server: Server =
    options.tls === undefined ? createHttpServer(listener) : createHttpsServer(options.tls, listener);
  const scheme = options.tls === undefined ? "http" : "https";
  let port = options.port ?? 0;
  const listen = async (): Promise<void> => {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = portOf(server);
  };
  const refuse = async (): Promise<void> => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  await listen();
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    script: desk.script,
    book: desk.book,
    setSecrets: (secrets) => desk.setSecrets(secrets),
    received: (webhookId, times = 1) => desk.received(webhookId, times),
    release: () => desk.release(),
    refuse,
    listen,
    async close() {
      desk.close();
      if (server.listening) await refuse();
    },
  };
}

/** The port on which a server listens. */
export function portOf(server: NetServer): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server does not listen on a port");
  return address.port;
}

/** Receives requests, records them and answers as the script says. */
class Desk {
  readonly script: FaultScript;
  readonly book = new RecordBook();
  readonly #keepHeaders: boolean;
  readonly #toleranceSeconds: number | null;
  readonly #held = new Set<() => void>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #connections = new WeakMap<Socket, number>();
  readonly #taken = new Map<string, number>();
  readonly #events = new EventEmitter().setMaxListeners(0);
  #lastConnection = 0;
  #secrets: readonly string[];

  constructor(options: ReceiverOptions) {
    this.script = createFaultScript(options.faults);
    this.#secrets = options.secrets ?? [];
    this.#keepHeaders = options.keepHeaders ?? true;
    this.#toleranceSeconds = options.toleranceSeconds === undefined ? 300 : options.toleranceSeconds;
  }

  setSecrets(secrets: readonly string[]): void {
    this.#secrets = secrets;
  }

  async received(webhookId: string, times: number): Promise<void> {
    const patience = AbortSignal.timeout(patienceMs);
    while ((this.#taken.get(webhookId) ?? 0) < times) await once(this.#events, "taken", { signal: patience });
  }

  release(): number {
    const held = [...this.#held];
    this.#held.clear();
    for (const letGo of held) letGo();
    return held.length;
  }

  close(): void {
    this.#held.clear();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Clients disconnect in the middle here; that is the purpose.
    request.on("error", () => {});
    response.on("error", () => {});
    const webhookId = headerOf(request, "webhook-id");
    const fault = this.script.next(webhookId, request.url);
    const entry = this.#write(request, webhookId, fault);
    if (fault.kind === "close") {
      request.socket.resetAndDestroy();
      this.#take(webhookId);
      return;
    }
    const body = await readBody(request);
    if (body === null) return;
    this.book.setBody(entry, body.toString("utf8"));
    entry.signature = this.#verdict(request, entry, body);
    if (entry.signature === "invalid") answer(response, entry, 401, "the signature does not match");
    else this.#act(fault, entry, request, response);
    this.#take(webhookId);
  }

  #write(request: IncomingMessage, webhookId: string, fault: Fault): ReceivedRequest {
    let connection = this.#connections.get(request.socket);
    if (connection === undefined) {
      this.#lastConnection += 1;
      connection = this.#lastConnection;
      this.#connections.set(request.socket, connection);
    }
    return this.book.add({
      connection,
      method: request.method ?? "",
      path: request.url ?? "",
      webhookId,
      webhookTimestamp: headerOf(request, "webhook-timestamp"),
      headers: this.#keepHeaders ? request.headers : null,
      fault: fault.kind,
    });
  }

  #verdict(request: IncomingMessage, entry: ReceivedRequest, body: Buffer): ReceivedRequest["signature"] {
    if (this.#secrets.length === 0) return "unchecked";
    const signatures = headerOf(request, "webhook-signature");
    const signed = { id: entry.webhookId, timestamp: entry.webhookTimestamp, signatures, body };
    return isSigned(signed, this.#secrets, this.#toleranceSeconds) ? "valid" : "invalid";
  }

  #act(
    fault: Exclude<Fault, { kind: "close" }>,
    entry: ReceivedRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    if (hasEffect(fault)) this.book.takeEffect(entry);
    const well = (): void => answerJson(response, entry, { received: entry.seq });
    switch (fault.kind) {
      case "ok":
        return fault.body === undefined ? well() : answerJson(response, entry, fault.body);
      case "status":
        return answer(response, entry, fault.status, fault.body ?? "", fault.headers);
      case "throttle":
        return answer(response, entry, 429, "", { "retry-after": String(fault.retryAfter) });
      case "echo":
        return answer(response, entry, fault.status, JSON.stringify({ headers: request.headers, body: entry.body }));
      case "hang":
        return;
      case "drop":
        request.socket.resetAndDestroy();
        return;
      case "mid-body":
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" });
        response.write('{"received":', () => request.socket.destroy());
        return;
      case "garbage":
        request.socket.end("\u0000\u0001 this is not an answer\r\n\r\n");
        return;
      case "late":
        this.#hold(well, fault.afterMs);
        return;
      case "endless":
        pour(response);
        return;
    }
  }

  #hold(well: () => void, afterMs: number | undefined): void {
    if (afterMs === undefined) {
      this.#held.add(well);
      return;
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      well();
    }, afterMs);
    this.#timers.add(timer);
  }

  #take(webhookId: string): void {
    this.#taken.set(webhookId, (this.#taken.get(webhookId) ?? 0) + 1);
    this.#events.emit("taken");
  }
}

function headerOf(request: IncomingMessage, name: string): string {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
}

/** Null when the client disconnected, or sent too much. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      if (!Buffer.isBuffer(chunk)) return null;
      bytes += chunk.length;
      if (bytes > maxBodyBytes) {
        request.socket.destroy();
        return null;
      }
      chunks.push(chunk);
    }
  } catch {
    return null;
  }
  return Buffer.concat(chunks);
}

function answerJson(response: ServerResponse, entry: ReceivedRequest, body: unknown): void {
  answer(response, entry, 200, JSON.stringify(body), { "content-type": "application/json" });
}

function answer(
  response: ServerResponse,
  entry: ReceivedRequest,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return;
  response.writeHead(status, headers);
  response.end(body, () => {
    entry.answered = status;
  });
}

/** Writes for as long as the client reads. */
function pour(response: ServerResponse): void {
  const block = Buffer.alloc(16 * 1024, "x");
  const more = (): void => {
    while (!response.destroyed && response.write(block));
  };
  response.on("drain", more);
  more();
}
