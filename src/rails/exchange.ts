/**
 * One HTTP request, with proof of how far it got.
 *
 * Owns: the connection, and the line between "nothing was sent" and "it may have arrived". Nothing is written to the
 * socket before it is connected, its certificate verified and its address checked, so a failure before that line
 * proves that the receiver saw nothing. The platform's own `fetch` does not report this, so rails do not use it.
 * Does not own: what an answer means, retries, or redirects (none is followed).
 */
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { codeOfAnswerError, codeOfConnectError } from "./exchange-codes.ts";
import type { ExchangeCode } from "./exchange-codes.ts";

/** Which addresses may be dialled, and what the errors of its lookup mean. */
export interface DialRules {
  readonly lookup: LookupFunction;
  /** Whether a connection to this address may be used. */
  allows(address: string): boolean;
  /** The code of an error that `lookup` itself made; undefined for any other error. */
  codeOf(error: Error): ExchangeCode | undefined;
}

export interface Connections {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  readonly rules: DialRules | undefined;
  close(): void;
}

export interface ConnectionOptions {
  /** Default, for receivers that the operator names: any address that the system's resolver finds. */
  readonly rules?: DialRules;
  /** Certificate authorities to trust instead of the platform's, as PEM. */
  readonly ca?: string | readonly string[] | undefined;
}

/** Many servers close an idle connection after 5 s; if we drop it first, it cannot break during a request. */
const idleConnectionMs = 4_000;
const maxIdleConnectionsPerHost = 32;
/** The relay bounds its calls itself; this only keeps a bug there from using up all file descriptors. */
const maxConnectionsPerHost = 256;
/** How long one of several addresses may take to connect before the next is tried as well. */
const attemptTimeoutMs = 1_000;

/** Connections are kept alive and shared by all calls of one rail, whose rules about addresses are the same. */
export function openConnections(options: ConnectionOptions = {}): Connections {
  const settings = {
    keepAlive: true,
    timeout: idleConnectionMs,
    maxSockets: maxConnectionsPerHost,
    maxFreeSockets: maxIdleConnectionsPerHost,
    ...(options.rules === undefined ? {} : { lookup: options.rules.lookup }),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
  };
  const http = new HttpAgent(settings);
  const ca = options.ca === undefined ? {} : { ca: typeof options.ca === "string" ? options.ca : [...options.ca] };
  const https = new HttpsAgent({ ...settings, ...ca });
  return {
    http,
    https,
    rules: options.rules,
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

export interface ExchangeRequest {
  /** Default: POST. */
  readonly method?: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** How much of the answer's body is read. */
  readonly maxResponseBytes: number;
}

export interface ExchangeAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** True if the body was longer than what we read. */
  readonly truncated: boolean;
}

export interface ExchangeFailure {
  /** `not_sent`: the receiver saw nothing of the request. `maybe_sent`: it may have seen all of it. */
  readonly kind: "not_sent" | "maybe_sent";
  readonly code: ExchangeCode;
}

export type ExchangeResult = ExchangeAnswer | ExchangeFailure;

/** Never rejects: any failure of the network or the receiver is a result. */
export function exchange(
  request: ExchangeRequest,
  connections: Connections,
  signal: AbortSignal,
): Promise<ExchangeResult> {
  if (signal.aborted) return Promise.resolve({ kind: "not_sent", code: "aborted_before_send" });
  return new Promise((resolve) => {
    new Exchange(request, connections, signal, resolve).start();
  });
}

class Exchange {
  readonly #request: ExchangeRequest;
  readonly #connections: Connections;
  readonly #signal: AbortSignal;
  readonly #resolve: (result: ExchangeResult) => void;
  #phase: "connecting" | "handshake" | "sent" | "done" = "connecting";
  #client: ClientRequest | undefined;

  constructor(
    request: ExchangeRequest,
    connections: Connections,
    signal: AbortSignal,
    resolve: (result: ExchangeResult) => void,
  ) {
    this.#request = request;
    this.#connections = connections;
    this.#signal = signal;
    this.#resolve = resolve;
  }

  start(): void {
    const { method = "POST", url, headers, body } = this.#request;
    const secure = url.protocol === "https:";
    try {
      this.#client = (secure ? requestHttps : requestHttp)(url, {
        method,
        agent: secure ? this.#connections.https : this.#connections.http,
        headers: { ...headers, "content-length": String(body.length) },
      });
    } catch {
      // The platform refuses to build requests that could be split or smuggled.
      this.#finish({ kind: "not_sent", code: "request_invalid" });
      return;
    }
    this.#signal.addEventListener("abort", this.#onAbort);
    this.#client.on("error", (error) => this.#fail(error));
    // Without a listener the platform would drop the connection on its own; with one we also know why.
    this.#client.on("upgrade", (_response, socket) => {
      socket.destroy();
      this.#finish({ kind: "maybe_sent", code: "bad_answer" });
    });
    this.#client.on("response", (response) => this.#read(response));
    this.#client.on("socket", (socket) => this.#connect(socket));
  }

  /** Sends as soon as there is a connection; immediately on one that was kept alive. */
  #connect(socket: Socket): void {
    if (socket instanceof TLSSocket) {
      socket.once("connect", () => this.#startHandshake());
      // `authorized` means that the certificate was verified: the connection was kept alive.
      if (socket.authorized) this.#send(socket);
      else socket.once("secureConnect", () => this.#send(socket));
    } else if (socket.connecting) {
      socket.once("connect", () => this.#send(socket));
    } else {
      this.#send(socket);
    }
  }

  #startHandshake(): void {
    if (this.#phase === "connecting") this.#phase = "handshake";
  }

  #send(socket: Socket): void {
    if (this.#phase === "done") return;
    const address = socket.remoteAddress;
    if (address === undefined) {
      // The other side closed it just now, and nothing was written.
      this.#finish({ kind: "not_sent", code: "connect_failed" });
      return;
    }
    // The lookup hook has checked this address already; a second check costs little and does not rely on the first.
    if (this.#connections.rules?.allows(address) === false) {
      this.#finish({ kind: "not_sent", code: "blocked_address" });
      return;
    }
    this.#phase = "sent";
    this.#client?.end(this.#request.body);
  }

  #read(response: IncomingMessage): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const answer = (truncated: boolean): void => {
      const body = Buffer.concat(chunks).subarray(0, this.#request.maxResponseBytes);
      const { statusCode: status = 0, headers } = response;
      this.#finish({ kind: "answer", status, headers, body, truncated }, !truncated);
    };
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      // The status is all we need; an endless body must not hold up the call until its time-out.
      if (bytes > this.#request.maxResponseBytes) answer(true);
    });
    response.on("error", (error) => this.#fail(error));
    response.on("end", () => {
      if (response.complete) answer(false);
    });
    response.on("close", () => {
      if (!response.complete) this.#finish({ kind: "maybe_sent", code: "connection_lost" });
    });
  }

  readonly #onAbort = (): void => {
    const sent = this.#phase === "sent";
    this.#finish(sent ? { kind: "maybe_sent", code: "timed_out" } : { kind: "not_sent", code: "aborted_before_send" });
  };

  #fail(error: Error): void {
    const errorCode = "code" in error && typeof error.code === "string" ? error.code : undefined;
    const dialled = this.#connections.rules?.codeOf(error);
    if (this.#phase === "sent") this.#finish({ kind: "maybe_sent", code: codeOfAnswerError(errorCode) });
    else if (dialled !== undefined) this.#finish({ kind: "not_sent", code: dialled });
    else if (this.#phase === "handshake") this.#finish({ kind: "not_sent", code: "tls_failed" });
    else this.#finish({ kind: "not_sent", code: codeOfConnectError(errorCode) });
  }

  /** The first result counts. A connection is kept only after a whole answer. */
  #finish(result: ExchangeResult, keepConnection = false): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (!keepConnection) this.#client?.destroy();
    this.#resolve(result);
  }
}
