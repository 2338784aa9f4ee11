/**
 * The only way in which the server asks the database on a caller's behalf: one transaction, in which the caller's role, claims
 * and request are set before anything else runs, and the pre-request function may refuse.
 *
 * Owns: the pool, the entry into a session, commit and rollback. Does not own: what is asked (the routes and the REST surface),
 * nor who the caller is (credentials.ts).
 *
 * The connections pipeline: what does not depend on an answer is written at once, so that a transaction of one statement costs
 * one round trip. A statement that follows a failed one of the same transaction is refused by the server, and its commit is a
 * rollback; the first failure is the one that counts.
 */
import { Pool, type PoolClient, type QueryConfig, type QueryResult } from "pg";
import { checkDatabaseUrl, surviveLostConnections } from "../db/connect.ts";
import { HeadroomError, toHeadroomError } from "../db/errors.ts";
import { valueTypes } from "../db/values.ts";
import type { Session } from "./session.ts";

/** What the database may know of the request: check_request and signature checks read it. */
export interface RequestFacts {
  readonly method: string;
  /** As PostgREST says it: `/rpc/name`; for our own routes their path. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface TransactionOptions {
  readonly readOnly?: boolean | undefined;
  readonly request?: RequestFacts | undefined;
  /** Run the pre-request function. Default: true. */
  readonly preRequest?: boolean | undefined;
}

export interface GatewayDatabaseOptions {
  /** A login as `headroom_gateway` or `authenticator`, or as a login that may take on their three roles. */
  readonly url: string;
  readonly maxConnections?: number | undefined;
  /** Opens what the database keeps encrypted (HEADROOM_SECRET_KEY); set for the transaction alone. */
  readonly secretKey?: string | undefined;
  /** Called first in every transaction, when it exists. Default: public.check_request. */
  readonly preRequest?: { readonly schema: string; readonly name: string } | undefined;
  /** Longest statement. Default: 8,000. */
  readonly statementTimeoutMs?: number | undefined;
  /** Longest wait for a free connection. Default: 5,000. */
  readonly connectTimeoutMs?: number | undefined;
}

export interface GatewayDatabase {
  /** Runs the work as the session. Commits what it returns from, rolls back what it throws out of. */
  transaction<T>(session: Session, work: (client: PoolClient) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** One statement or several that do not depend on each other's answers, as one transaction in one round trip. */
  run(session: Session, statements: readonly QueryConfig[], options?: TransactionOptions): Promise<QueryResult[]>;
  /** Asks as the login itself, outside any session: for the catalogue and for readiness. */
  ask(statement: QueryConfig): Promise<QueryResult>;
  close(): Promise<void>;
}

const defaults = {
  maxConnections: 10,
  preRequest: { schema: "public", name: "check_request" },
  statementTimeoutMs: 8_000,
  connectTimeoutMs: 5_000,
} as const;

/** How long the answer to "is there a pre-request function?" is believed while it is no. */
const preRequestAskedEveryMs = 5_000;

export function createGatewayDatabase(options: GatewayDatabaseOptions): GatewayDatabase {
  const pool = new Pool({
    connectionString: checkDatabaseUrl(options.url),
    application_name: "headroom gateway",
    max: options.maxConnections ?? defaults.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaults.connectTimeoutMs,
    statement_timeout: options.statementTimeoutMs ?? defaults.statementTimeoutMs,
    keepAlive: true,
    types: valueTypes,
    pipeline: true,
  });
  pool.on("error", () => undefined);
  surviveLostConnections(pool);
  return new PooledGatewayDatabase(pool, options);
}

class PooledGatewayDatabase implements GatewayDatabase {
  readonly #pool: Pool;
  readonly #secretKey: string;
  readonly #preRequest: { readonly schema: string; readonly name: string };
  #preRequestFound = false;
  #preRequestAskedAt = -Infinity;

  constructor(pool: Pool, options: GatewayDatabaseOptions) {
    this.#pool = pool;
    this.#secretKey = options.secretKey ?? "";
    this.#preRequest = options.preRequest ?? defaults.preRequest;
  }

  async transaction<T>(
    session: Session,
    work: (client: PoolClient) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const client = await this.#connect();
    let broken: Error | undefined;
    try {
      await firstFailure(this.#enter(client, session, options, await this.#findPreRequest(client, options)));
      const result = await work(client);
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch((failure: unknown) => {
        broken = failure instanceof Error ? failure : new Error("rollback failed", { cause: failure });
      });
      throw toHeadroomError(error);
    } finally {
      client.release(broken);
    }
  }

  async run(
    session: Session,
    statements: readonly QueryConfig[],
    options: TransactionOptions = {},
  ): Promise<QueryResult[]> {
    const client = await this.#connect();
    let broken: Error | undefined;
    try {
      const entering = this.#enter(client, session, options, await this.#findPreRequest(client, options));
      const asked = statements.map((statement) => client.query(statement));
      const committed = client.query("commit");
      const results = await firstFailure([...entering, ...asked, committed]);
      return results.slice(entering.length, entering.length + asked.length);
    } catch (error) {
      const failure = toHeadroomError(error);
      // A connection that broke is not given to anybody else; after an error of a statement it is sound.
      if (failure.sqlState === undefined) broken = failure;
      throw failure;
    } finally {
      client.release(broken);
    }
  }

  async ask(statement: QueryConfig): Promise<QueryResult> {
    try {
      return await this.#pool.query(statement);
    } catch (error) {
      throw toHeadroomError(error);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (cause) {
      // Why the gateway cannot log in is no business of a caller's, and no state of the caller's statement.
      throw new HeadroomError("database_unreachable", "The database cannot be reached.", { cause });
    }
  }

  /** Writes what begins a transaction, without waiting. The role comes last: from then on nothing of the login's is left. */
  #enter(
    client: PoolClient,
    session: Session,
    { readOnly = false, request }: TransactionOptions,
    preRequest: boolean,
  ): Promise<QueryResult>[] {
    const begun = client.query(readOnly ? "begin read only" : "begin");
    const entered = client.query({
      name: "headroom_enter",
      text: enterText,
      values: [
        this.#secretKey,
        JSON.stringify(session.claims),
        JSON.stringify(request?.headers ?? {}),
        request?.method ?? "",
        request?.path ?? "",
        session.role,
      ],
    });
    if (!preRequest) return [begun, entered];
    const { schema, name } = this.#preRequest;
    return [
      begun,
      entered,
      client.query({ name: "headroom_pre_request", text: `select ${quoted(schema)}.${quoted(name)}()` }),
    ];
  }

  /** Once it was found it is called always, so that dropping it fails loudly instead of opening a door. */
  async #findPreRequest(client: PoolClient, options: TransactionOptions): Promise<boolean> {
    if (options.preRequest === false) return false;
    if (this.#preRequestFound) return true;
    const now = performance.now();
    if (now - this.#preRequestAskedAt < preRequestAskedEveryMs) return false;
    const { schema, name } = this.#preRequest;
    const answer = await client.query<{ found: boolean }>("select to_regprocedure($1) is not null as found", [
      `${quoted(schema)}.${quoted(name)}()`,
    ]);
    this.#preRequestFound = answer.rows[0]?.found === true;
    this.#preRequestAskedAt = now;
    return this.#preRequestFound;
  }
}

const enterText = `select set_config('headroom.secret_key', $1, true), set_config('request.jwt.claims', $2, true),
  set_config('request.headers', $3, true), set_config('request.method', $4, true), set_config('request.path', $5, true),
  set_config('role', $6, true)`;

/** Waits for all, since none may be left behind on the connection, and throws what failed first. */
async function firstFailure(queries: readonly Promise<QueryResult>[]): Promise<QueryResult[]> {
  const outcomes = await Promise.allSettled(queries);
  return outcomes.map((outcome) => {
    if (outcome.status === "rejected") throw outcome.reason;
    return outcome.value;
  });
}

/** A name as SQL writes it. */
export function quoted(name: string): string {
  if (name.includes("\0")) throw new HeadroomError("invalid_input", "A name cannot hold a zero byte.");
  return `"${name.replaceAll('"', '""')}"`;
}
