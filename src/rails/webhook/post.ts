/**
 * One HTTP POST, and the plain truth about how far it got.
 *
 * Owns: the connection, and the line between "nothing was sent" and "it may have arrived". Not a byte is handed to the
 * socket before it is connected, its certificate verified and its address checked, so a failure before that line is
 * proof that the receiver saw nothing. Does not own: what an answer means, retries, or redirects (none is followed).
 */
import { Agent as HttpAgent, request as requestHttp } from "node:http";
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { codeOfAnswerError, codeOfConnectError } from "./codes.ts";
import type { WebhookCodeName } from "./codes.ts";
import { BlockedAddressError, ResolveError } from "./ssrf.ts";
import type { AddressPolicy } from "./ssrf.ts";

export interface Connections {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  readonly policy: AddressPolicy;
  close(): void;
}

export interface ConnectionOptions {
  readonly lookup: LookupFunction;
  readonly policy: AddressPolicy;
  /** Certificate authorities to trust instead of the platform's, as PEM. */
  readonly ca?: string | readonly string[] | undefined;
}

/** Many servers close an idle connection after 5 s; one that we drop first cannot break under a request. */
const idleConnectionMs = 4_000;
const maxIdleConnectionsPerHost = 32;
/** The relay bounds its calls itself; this only keeps a mistake there from eating all file descriptors. */
const maxConnectionsPerHost = 256;
/** How long one of several addresses may take to connect before the next is tried as well. */
const attemptTimeoutMs = 1_000;

/** Connections are kept alive and shared by all calls of one rail, whose rules about addresses are the same. */
export function openConnections(options: ConnectionOptions): Connections {
  const settings = {
    keepAlive: true,
    timeout: idleConnectionMs,
    maxSockets: maxConnectionsPerHost,
    maxFreeSockets: maxIdleConnectionsPerHost,
    lookup: options.lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
  };
  const http = new HttpAgent(settings);
  const ca = options.ca === undefined ? {} : { ca: typeof options.ca === "string" ? options.ca : [...options.ca] };
  const https = new HttpsAgent({ ...settings, ...ca });
  return {
    http,
    https,
    policy: options.policy,
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Of the answer's body no more than this is read. */
  readonly maxResponseBytes: number;
}

export interface PostAnswer {
  readonly kind: "answer";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** True when there was more of it than we read. */
  readonly truncated: boolean;
}

export interface PostFailure {
  /** `not_sent`: the receiver saw nothing of the request. `maybe_sent`: it may have seen all of it. */
  readonly kind: "not_sent" | "maybe_sent";
  readonly code: WebhookCodeName;
}

export type PostResult = PostAnswer | PostFailure;

/** Never rejects: whatever the network or the receiver does is a result. */
export function post(request: PostRequest, connections: Connections, signal: AbortSignal): Promise<PostResult> {
  if (signal.aborted) return Promise.resolve({ kind: "not_sent", code: "aborted_before_send" });
  return new Promise((resolve) => {
    new Exchange(request, connections, signal, resolve).start();
  });
}

class Exchange {
  readonly #request: PostRequest;
  readonly #connections: Connections;
  readonly #signal: AbortSignal;
  readonly #resolve: (result: PostResult) => void;
  #phase: "connecting" | "handshake" | "sent" | "done" = "connecting";
  #client: ClientRequest | undefined;

  constructor(
    request: PostRequest,
    connections: Connections,
    signal: AbortSignal,
    resolve: (result: PostResult) => void,
  ) {
    this.#request = request;
    this.#connections = connections;
    this.#signal = signal;
    this.#resolve = resolve;
  }

  start(): void {
    const { url, headers, body } = this.#request;
    const secure = url.protocol === "https:";
    try {
      this.#client = (secure ? requestHttps : requestHttp)(url, {
        method: "POST",
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
    // Without a listener the platform would drop the connection by itself; with one we also know why.
    this.#client.on("upgrade", (_response, socket) => {
      socket.destroy();
      this.#finish({ kind: "maybe_sent", code: "bad_answer" });
    });
    this.#client.on("response", (response) => this.#read(response));
    this.#client.on("socket", (socket) => this.#connect(socket));
  }

  /** Sends as soon as the connection stands; at once on one that was kept alive. */
  #connect(socket: Socket): void {
    if (socket instanceof TLSSocket) {
      socket.once("connect", () => this.#startHandshake());
      // Only a socket whose certificate was verified is authorized: one that was kept alive.
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
      // Closed by the other side in this very moment, and nothing was written.
      this.#finish({ kind: "not_sent", code: "connect_failed" });
      return;
    }
    // The lookup hook has checked this address already; a second look costs little and needs no trust in the first.
    if (!this.#connections.policy.check(address).ok) {
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
      // The status has said everything; an endless body must not hold the call until its time-out.
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
    if (this.#phase === "sent") this.#finish({ kind: "maybe_sent", code: codeOfAnswerError(errorCode) });
    else if (error instanceof BlockedAddressError) this.#finish({ kind: "not_sent", code: "blocked_address" });
    else if (error instanceof ResolveError) this.#finish({ kind: "not_sent", code: "dns_failed" });
    else if (this.#phase === "handshake") this.#finish({ kind: "not_sent", code: "tls_failed" });
    else this.#finish({ kind: "not_sent", code: codeOfConnectError(errorCode) });
  }

  /** The first result counts. A connection is kept only after a whole answer. */
  #finish(result: PostResult, keepConnection = false): void {
    if (this.#phase === "done") return;
    this.#phase = "done";
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (!keepConnection) this.#client?.destroy();
    this.#resolve(result);
  }
}
