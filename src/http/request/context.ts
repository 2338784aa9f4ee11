/**
 * What a handler gets of a request: its parts, its body within the limit, and the database as the caller's session.
 */
import type { PoolClient } from "pg";
import type { Queryable } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { decodeText, defaultBodyBytes, isJsonType, parseJson, readBody } from "./body.ts";
import { clientAddress } from "./client-address.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { BatchResult } from "../../db/batch.ts";
import { callerOf, keyOf } from "../database/caller.ts";
import type { GatewayStatement, RequestFacts, TransactionOptions } from "../database/gateway-database.ts";
import type { HeldBytes } from "../held-bytes.ts";
import type { InProgress } from "../in-progress.ts";
import { singleCalls } from "../database/single-calls.ts";
import type { Reader, RouteContext, RouteEntry } from "../route.ts";
import { anonymous, type Session } from "../auth/session.ts";

/** The socket that a request came through; missing when the application is called without one. */
export interface ClientInfo {
  readonly address: string | undefined;
  /** Calls once the answer was read, or the client is gone. */
  readonly whenSent?: ((work: () => void) => void) | undefined;
  /** Hangs up. */
  readonly cut?: (() => void) | undefined;
}

export interface ContextParts {
  readonly request: Request;
  readonly route: RouteEntry;
  readonly params: Readonly<Record<string, string>>;
  readonly client: ClientInfo | undefined;
  readonly requestId: string;
  readonly dependencies: HttpDependencies;
  readonly closing: AbortSignal;
  readonly heldBytes: HeldBytes;
  readonly inProgress: InProgress;
}

export class RequestContext implements RouteContext {
  session: Session = anonymous;
  readonly request: Request;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly #parts: ContextParts;
  #url: URL | undefined;
  #address: string | undefined;
  #facts: RequestFacts | undefined;
  #body: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #letGoOfBody: (() => void) | undefined;
  #leave: (() => void) | undefined;

  constructor(parts: ContextParts) {
    this.#parts = parts;
    this.request = parts.request;
    this.method = parts.request.method;
    this.params = parts.params;
    this.requestId = parts.requestId;
  }

  get url(): URL {
    return (this.#url ??= new URL(this.request.url));
  }

  get clientAddress(): string {
    const { client, dependencies } = this.#parts;
    const forwarded = this.request.headers.get("x-forwarded-for");
    return (this.#address ??= clientAddress(forwarded, client?.address, dependencies.trustedProxies ?? 0));
  }

  get signal(): AbortSignal {
    return AbortSignal.any([this.request.signal, this.#parts.closing]);
  }

  get facts(): RequestFacts {
    return (this.#facts ??= {
      method: this.method,
      path: this.#parts.route.path,
      headers: headersForDatabase(this.request.headers),
      network: this.clientAddress,
    });
  }

  get reader(): Reader {
    const caller = this.#caller;
    const { client, heldBytes } = this.#parts;
    return {
      hold: (bytes) => heldBytes.hold(caller, bytes),
      hasRoom: () => heldBytes.hasRoom(caller, 0),
      cut: client?.cut,
    };
  }

  /** Not before the session is known. */
  get #caller(): string {
    return keyOf(callerOf(this.session, this.clientAddress));
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return (this.#body ??= this.#readBody(this.#parts.route.limits?.bodyBytes ?? defaultBodyBytes));
  }

  /** A slow sender takes no place from other anonymous callers in the same network. */
  async #readBody(limit: number): Promise<Uint8Array<ArrayBuffer>> {
    const { heldBytes } = this.#parts;
    const announced = Number(this.request.headers.get("content-length") ?? limit);
    const size = Math.min(announced, limit);
    heldBytes.requireRoom(this.#caller, size);
    this.#letGoOfBody = heldBytes.hold(this.#caller, size);
    const leave = this.session.role === "anon" ? this.#leave : undefined;
    leave?.();
    const body = await readBody(this.request, limit);
    if (leave !== undefined) await this.enter();
    return body;
  }

  /** Waits until few enough of the caller's other requests are in progress. Not before the session is known. */
  async enter(): Promise<void> {
    this.#leave = await this.#parts.inProgress.enter(this.#caller, this.session.role !== "anon");
  }

  /** The request was answered: its body is no longer needed, and the answer is kept until the client has read it. */
  answered(response: Response): void {
    this.#letGoOfBody?.();
    const { client, heldBytes } = this.#parts;
    const size = Number(response.headers.get("content-length") ?? smallAnswerBytes);
    client?.whenSent?.(heldBytes.hold(this.#caller, size));
    // Streams have their own limit (live/connection-limit.ts), and no end to wait for.
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream || client?.whenSent === undefined) this.#leave?.();
    else if (this.#leave !== undefined) client.whenSent(this.#leave);
  }

  async text(): Promise<string> {
    return decodeText(await this.bytes());
  }

  async json(): Promise<unknown> {
    if (!isJsonType(this.request.headers.get("content-type"))) {
      throw new HeadroomError("unsupported_media_type", "The body must be JSON.", {
        hint: "Send it with the header content-type: application/json.",
      });
    }
    return parseJson(await this.text());
  }

  transaction<T>(work: (client: PoolClient) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#parts.dependencies.database.transaction(this.session, work, this.#with(options));
  }

  run(statements: readonly GatewayStatement[], options: TransactionOptions = {}): Promise<BatchResult[]> {
    return this.#parts.dependencies.database.run(this.session, statements, this.#with(options));
  }

  calls(options: TransactionOptions = {}): Queryable {
    return singleCalls(this.#parts.dependencies.database, this.session, this.#with(options));
  }

  /** By then the caller may have more unread answers than allowed. */
  #with(options: TransactionOptions): TransactionOptions {
    const caller = this.#caller;
    return { request: this.facts, admit: () => this.#parts.heldBytes.requireRoom(caller, 0), ...options };
  }
}

/** The size assumed for an answer that does not state its size. Answers that can be large state it. */
const smallAnswerBytes = 16_384;

/** Credentials are verified here, so nothing in the database needs them. */
const withheld = new Set(["authorization", "apikey", "cookie", "proxy-authorization"]);

function headersForDatabase(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!withheld.has(name)) kept[name] = value.replaceAll("\0", "");
  }
  return kept;
}
