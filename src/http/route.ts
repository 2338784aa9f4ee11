/**
 * How a route is declared: once, with the credential that it asks for.
 *
 * Owns: the shape of a route and of what its handler is given. Does not own: checking credentials (credentials.ts), nor
 * putting routes together (app.ts).
 */
import type { PoolClient } from "pg";
import type { Queryable } from "../db/call.ts";
import type { BatchResult } from "../db/batch.ts";
import type { GatewayStatement, RequestFacts, TransactionOptions } from "./database/gateway-database.ts";
import type { Session } from "./auth/session.ts";

/**
 * The credential that a caller must send.
 *
 * - none: nothing; the route is rate limited
 * - apikey: the gateway's key, and optionally a bearer token with its own role (the REST surface)
 * - member: the session cookie or the bearer token of a member
 * - service: the service key
 * - relay-secret: the secret that wakes the relay, as X-Outbox-Secret
 * - signature: what the provider's scheme requires; the handler or the database verifies it, and the route is rate limited
 */
export type Credentials = "none" | "apikey" | "member" | "service" | "relay-secret" | "signature";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface RateLimit {
  /** How many requests one address may send in a burst. */
  readonly burst: number;
  /** How many more it may send each second. */
  readonly perSecond: number;
}

export interface RouteLimits {
  /** The largest body. Default: 1 MiB. */
  readonly bodyBytes?: number | undefined;
  /** Per client address. `null` means none. Default: by the kind of credential. */
  readonly rate?: RateLimit | null | undefined;
}

/** The reader of a streaming answer, and the memory that is held for them (held-bytes.ts). */
export interface Reader {
  /** Counts this many bytes; the returned function releases them. */
  readonly hold: (bytes: number) => () => void;
  /** False when more is held for the caller than one caller may have. */
  readonly hasRoom: () => boolean;
  /** Hangs up. Missing where there is no socket. */
  readonly cut: (() => void) | undefined;
}

export interface RouteContext {
  readonly request: Request;
  readonly method: string;
  readonly url: URL;
  /** The named parts of the path, percent-decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly requestId: string;
  /** What limits count: an IPv4 address, or the network of an IPv6 one (client-address.ts). */
  readonly clientAddress: string;
  /** Who calls, by their credential; anonymous for `none`, `signature` and `relay-secret`. */
  readonly session: Session;
  /** What the database is told about the request. */
  readonly facts: RequestFacts;
  /** Aborted when the client went away or the server shuts down: for answers that stream. */
  readonly signal: AbortSignal;
  readonly reader: Reader;
  /** The body as it came; refused above the route's limit. */
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
  /** The body as text; broken UTF-8 is refused. */
  text(): Promise<string>;
  /** The body as JSON; refused unless it is declared as JSON, and is. */
  json(): Promise<unknown>;
  /** Runs the work in the database as the session. */
  transaction<T>(work: (client: PoolClient) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Statements that do not depend on each other's answers, as one transaction of the session in one round trip. */
  run(statements: readonly GatewayStatement[], options?: TransactionOptions): Promise<BatchResult[]>;
  /** For calls of functions as the session, each in its own transaction and one round trip. */
  calls(options?: TransactionOptions): Queryable;
}

export type RouteHandler = (context: RouteContext) => Response | Promise<Response>;

export interface RouteDefinition {
  readonly method: Method | readonly Method[];
  /** With `:name` for a part that varies. */
  readonly path: string;
  readonly credentials: Credentials;
  readonly limits?: RouteLimits | undefined;
  /** One line for /openapi.json. */
  readonly summary: string;
  /** The format of errors; `page` is HTML for browsers and problem details for everything else. Default: problem details. */
  readonly errors?: "problem" | "postgrest" | "page" | undefined;
  /** Whether scripts of any origin may call it, with any credential but cookies. Default: false. */
  readonly cors?: boolean | undefined;
  /**
   * True if the handler may answer without a transaction of the session: the gate then checks first that the session was not
   * revoked. Default: false.
   */
  readonly skipsDatabase?: boolean | undefined;
  readonly handler: RouteHandler;
}

export interface RouteEntry extends RouteDefinition {
  readonly methods: readonly Method[];
}

export function defineRoute(definition: RouteDefinition): RouteEntry {
  const { method } = definition;
  return { ...definition, methods: typeof method === "string" ? [method] : method };
}
