/**
 * What a handler is given of a request: its parts, its body within the limit, and the database as the caller's session.
 */
import type { PoolClient } from "pg";
import type { Queryable } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { decodeText, defaultBodyBytes, isJsonType, parseJson, readBody } from "./body.ts";
import { clientAddress } from "./client-address.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { RequestFacts, TransactionOptions } from "../database/gateway-database.ts";
import { singleCalls } from "../database/single-calls.ts";
import type { RouteContext, RouteEntry } from "../route.ts";
import { anonymous, type Session } from "../auth/session.ts";

/** What the socket tells about the caller; missing when the application is called without one. */
export interface ClientInfo {
  readonly address: string | undefined;
}

export interface ContextParts {
  readonly request: Request;
  readonly route: RouteEntry;
  readonly params: Readonly<Record<string, string>>;
  readonly client: ClientInfo | undefined;
  readonly requestId: string;
  readonly dependencies: HttpDependencies;
  readonly closing: AbortSignal;
}

export function createContext(parts: ContextParts): RouteContext & { session: Session } {
  return new RequestContext(parts);
}

class RequestContext implements RouteContext {
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
      path: this.url.pathname,
      headers: headersForDatabase(this.request.headers),
      network: this.clientAddress,
    });
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return (this.#body ??= readBody(this.request, this.#parts.route.limits?.bodyBytes ?? defaultBodyBytes));
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
    return this.#parts.dependencies.database.transaction(this.session, work, { request: this.facts, ...options });
  }

  calls(options: TransactionOptions = {}): Queryable {
    return singleCalls(this.#parts.dependencies.database, this.session, { request: this.facts, ...options });
  }
}

/** Credentials are verified here, so nothing in the database needs them. */
const withheld = new Set(["authorization", "apikey", "cookie", "proxy-authorization"]);

function headersForDatabase(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!withheld.has(name)) kept[name] = value.replaceAll("\0", "");
  }
  return kept;
}
