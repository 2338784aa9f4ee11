/**
 * The only way in which the server asks the database on a caller's behalf: one transaction, in which the caller's role, claims
 * and request are set before anything else runs, and the pre-request function may refuse.
 *
 * Owns: the pool, the entry into a session, commit and rollback. Does not own: what is asked (the routes and the REST surface),
 * nor who the caller is (credentials.ts).
 *
 * Everything that does not depend on an answer is sent together (src/db/batch.ts): entering the session, the pre-request function and one
 * or more statements cost one round trip, commit included.
 */
import { Pool, type PoolClient } from "pg";
import { sendBatch, type BatchResult, type BatchStatement } from "../../db/batch.ts";
import { checkDatabaseUrl, surviveLostConnections } from "../../db/connect.ts";
import { HeadroomError, provesRollback, sqlStateOf, toHeadroomError } from "../../db/errors.ts";
import { keysOf, type SecretKey } from "../../db/secrets/secret-key.ts";
import { valueTypes } from "../../db/values/values.ts";
import { mayNeedSecrets } from "./secret-use.ts";
import type { Session } from "../auth/session.ts";
import { createRateLimiter } from "../request/rate-limit.ts";
import type { RateLimit } from "../route.ts";
import { callerOf, keyOf, type Caller } from "./caller.ts";
import { Shares } from "./connection-shares.ts";
import { KeptStatements, nameOf, type Keeping } from "./kept-statements.ts";

/** What the database is told about the request: check_request and signature checks read it. */
export interface RequestFacts {
  readonly method: string;
  /** As in PostgREST: `/rpc/name`. For our own routes the declared path, however the request spelled it. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where it comes from, as limits count it (client-address.ts). Missing if unknown. */
  readonly network?: string | undefined;
}

export interface TransactionOptions {
  readonly readOnly?: boolean | undefined;
  readonly request?: RequestFacts | undefined;
  /** Whether encrypted values may be decrypted. Default: by the request's path (secret-use.ts). */
  readonly secrets?: boolean | undefined;
  /** Run the pre-request function. Default: true. */
  readonly preRequest?: boolean | undefined;
  /** The group under which connections are counted. Default: the session's workspace or key (caller.ts). */
  readonly share?: string | undefined;
  /** Called when it is this request's turn. If it throws, the request is refused and nothing is sent. */
  readonly admit?: (() => void) | undefined;
}

export interface GatewayStatement extends BatchStatement {
  /** The same text may be sent again; from then on it may be kept prepared, under this kind. Default: not kept. */
  readonly keep?: Keeping | undefined;
}

export interface GatewayDatabaseOptions {
  /** A login as `headroom_gateway` or `authenticator`, or as a login that may take on their three roles. */
  readonly url: string;
  readonly maxConnections?: number | undefined;
  /** Decrypts what the database keeps encrypted (HEADROOM_SECRET_KEY). Set only for the transaction, and only if it may be needed. */
  readonly secretKey?: SecretKey | undefined;
  /** Called first in every transaction, when it exists. Default: public.check_request. */
  readonly preRequest?: { readonly schema: string; readonly name: string } | undefined;
  /** Longest statement. Default: 8,000. */
  readonly statementTimeoutMs?: number | undefined;
  /** Longest wait for a free connection. Default: 5,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How many seconds of connection time a member may use in a burst, and how many more each second. Default: 30 and 1. */
  readonly memberTime?: RateLimit | undefined;
  /** Whether statements may be prepared by name, which some transaction poolers do not support. Default: true. */
  readonly prepare?: boolean | undefined;
}

export interface GatewayDatabase {
  /** Runs the work as the session. Commits when it returns, rolls back when it throws. */
  transaction<T>(session: Session, work: (client: PoolClient) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** One statement or several that do not depend on each other's answers, as one transaction in one round trip. */
  run(session: Session, statements: readonly GatewayStatement[], options?: TransactionOptions): Promise<BatchResult[]>;
  /** Queries as the login itself, outside any session: for the catalogue and for readiness. */
  ask(statement: BatchStatement): Promise<BatchResult>;
  close(): Promise<void>;
}

const defaults = {
  maxConnections: 10,
  preRequest: { schema: "public", name: "check_request" },
  statementTimeoutMs: 8_000,
  connectTimeoutMs: 5_000,
  // A caller that sends one request after the other never owes anything.
  memberTime: { burst: 30, perSecond: 1 },
} as const;

/** How often to check again for a missing pre-request function. */
const preRequestAskedEveryMs = 5_000;

export function createGatewayDatabase(options: GatewayDatabaseOptions): GatewayDatabase {
  const pool = new Pool({
    connectionString: checkDatabaseUrl(options.url),
    application_name: "headroom gateway",
    max: options.maxConnections ?? defaults.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs ?? defaults.connectTimeoutMs,
    keepAlive: true,
    types: valueTypes,
  });
  pool.on("error", () => undefined);
  surviveLostConnections(pool);
  return new PooledGatewayDatabase(pool, options);
}

interface Held {
  readonly client: PoolClient;
  /** The caller that statements prepared on it are counted under. */
  readonly share: string;
  readonly release: (broken?: Error) => void;
}

class PooledGatewayDatabase implements GatewayDatabase {
  readonly #pool: Pool;
  readonly #shares: Shares;
  readonly #timeUsed = createRateLimiter(() => performance.now());
  readonly #memberTime: RateLimit;
  readonly #waitMs: number;
  readonly #secretKeys: readonly [current: string, previous: string];
  readonly #preRequest: BatchStatement;
  readonly #preRequestName: string;
  readonly #prepare: boolean;
  readonly #longest: string;
  readonly #kept = new WeakMap<PoolClient, KeptStatements>();
  #preRequestFound = false;
  #preRequestAskedAt = -Infinity;

  constructor(pool: Pool, options: GatewayDatabaseOptions) {
    this.#pool = pool;
    this.#shares = new Shares(options.maxConnections ?? defaults.maxConnections);
    this.#memberTime = options.memberTime ?? defaults.memberTime;
    this.#waitMs = options.connectTimeoutMs ?? defaults.connectTimeoutMs;
    const [current = "", previous = ""] = keysOf(options.secretKey);
    this.#secretKeys = [current, previous];
    const { schema, name } = options.preRequest ?? defaults.preRequest;
    this.#preRequestName = `${quoted(schema)}.${quoted(name)}()`;
    this.#preRequest = { name: "headroom_pre_request", text: `select ${this.#preRequestName}` };
    this.#prepare = options.prepare ?? true;
    this.#longest = String(options.statementTimeoutMs ?? defaults.statementTimeoutMs);
  }

  async transaction<T>(
    session: Session,
    work: (client: PoolClient) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    const { client, release } = await this.#connect(session, options);
    let broken: Error | undefined;
    try {
      await this.#send(client, [begin, ...(await this.#entry(client, session, options))]);
      const result = await work(client);
      await client.query("commit");
      return result;
    } catch (error) {
      await client.query("rollback").catch((failure: unknown) => {
        broken = failure instanceof Error ? failure : new Error("rollback failed", { cause: failure });
      });
      throw toHeadroomError(error);
    } finally {
      release(broken);
    }
  }

  async run(
    session: Session,
    statements: readonly GatewayStatement[],
    options: TransactionOptions = {},
  ): Promise<BatchResult[]> {
    const { client, release, share } = await this.#connect(session, options);
    let broken: Error | undefined;
    try {
      const entry = await this.#entry(client, session, options);
      const results = await this.#sendKept(client, entry, statements, { role: session.role, share });
      return results.slice(entry.length);
    } catch (error) {
      const failure = toHeadroomError(error);
      // A lost connection is not used again, also if the server itself reported the loss. After a failed statement it is still good.
      if (!provesRollback(failure)) broken = failure;
      throw failure;
    } finally {
      release(broken);
    }
  }

  async ask(statement: BatchStatement): Promise<BatchResult> {
    const { client, release } = await this.#hold({ group: "own" });
    try {
      return await this.#ask(client, statement);
    } catch (error) {
      throw toHeadroomError(error);
    } finally {
      release();
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #connect(session: Session, { share, request, admit }: TransactionOptions): Promise<Held> {
    const { group, one } = callerOf(session, request?.network);
    const caller = { group: share ?? group, one };
    if (session.role !== "authenticated") return this.#hold(caller, admit);
    const member = keyOf({ group, one });
    const held = await this.#hold(caller, () => {
      const waitSeconds = this.#timeUsed.take(member, this.#memberTime, 0);
      if (waitSeconds !== null) throw tooLong(waitSeconds);
      admit?.();
    });
    const since = performance.now();
    return {
      ...held,
      release: (broken) => {
        held.release(broken);
        this.#timeUsed.charge(member, this.#memberTime, (performance.now() - since) / 1_000);
      },
    };
  }

  async #hold(caller: Caller, admit?: () => void): Promise<Held> {
    const taken = await this.#shares.take(caller, this.#waitMs);
    if (taken.kind === "late") throw taken.ownFault ? tooMany() : new HeadroomError("database_unreachable", allBusy);
    const { leave } = taken;
    let client: PoolClient;
    try {
      admit?.();
      client = await this.#pool.connect();
    } catch (cause) {
      leave();
      if (cause instanceof HeadroomError) throw cause;
      // Callers must not see why the gateway cannot log in, and its SQLSTATE is not that of their statement.
      throw new HeadroomError("database_unreachable", "The database cannot be reached.", { cause });
    }
    return {
      client,
      share: keyOf(caller),
      release(broken) {
        client.release(broken);
        leave();
      },
    };
  }

  async #ask(client: PoolClient, statement: BatchStatement): Promise<BatchResult> {
    const bound = { name: "headroom_bound", text: boundText, values: [this.#longest] };
    const [, result] = await this.#send(client, [bound, statement]);
    return result ?? { rows: [] };
  }

  #send(client: PoolClient, statements: readonly BatchStatement[]): Promise<BatchResult[]> {
    return sendBatch(client, this.#prepare ? statements : statements.map(({ text, values }) => ({ text, values })));
  }

  /**
   * Sends the statements under the names that this connection keeps them by. If that fails, perhaps because the database changed after they
   * were prepared, all of it was rolled back, and it is sent again without those names. If it then works, the names are dropped. So a
   * caller who sends a wrong value costs the others nothing.
   */
  async #sendKept(
    client: PoolClient,
    entry: readonly BatchStatement[],
    statements: readonly GatewayStatement[],
    { role, share }: { readonly role: string; readonly share: string },
  ): Promise<BatchResult[]> {
    const marked = this.#prepare ? statements.filter(mayBeKept) : [];
    if (marked.length === 0) return this.#send(client, [...entry, ...statements]);
    let kept = this.#kept.get(client);
    if (kept === undefined) this.#kept.set(client, (kept = new KeptStatements()));
    const uses = marked.map(({ text, keep }) => {
      const name = nameOf(text, role);
      return { text, keep, name, use: kept.use(keep, name, share) };
    });
    const nameFor = new Map(uses.map(({ text, use }) => [text, use?.name]));
    const named = statements.map((statement) => ({
      ...statement,
      name: statement.name ?? nameFor.get(statement.text),
    }));
    let results: BatchResult[];
    try {
      results = await sendBatch(client, [...entry, ...named], kept.takeGivenUp());
    } catch (error) {
      const old = uses.filter(({ use }) => use?.isOld === true);
      if (!old.some(({ keep }) => mayBeOutdated(keep, error))) throw error;
      results = await sendBatch(client, [...entry, ...statements]);
      for (const { keep, name } of old) kept.forget(keep, name);
    }
    for (const { keep, name } of uses) kept.answered(keep, name, share);
    return results;
  }

  /** What comes first in every transaction. The role is set last: from then on the login's own rights no longer apply. */
  async #entry(client: PoolClient, session: Session, options: TransactionOptions): Promise<BatchStatement[]> {
    const { readOnly = false, request, secrets = mayNeedSecrets(request?.path) } = options;
    const entry: BatchStatement = {
      name: "headroom_enter",
      text: enterText,
      values: [
        ...(secrets ? this.#secretKeys : ["", ""]),
        JSON.stringify(session.claims),
        JSON.stringify(request?.headers ?? {}),
        request?.method ?? "",
        request?.path ?? "",
        request?.network ?? "",
        readOnly ? "on" : null,
        this.#longest,
        session.role,
      ],
    };
    return (await this.#findPreRequest(client, options)) ? [entry, this.#preRequest] : [entry];
  }

  /** Once found, it is always called: dropping it causes errors instead of letting requests through unchecked. */
  async #findPreRequest(client: PoolClient, options: TransactionOptions): Promise<boolean> {
    if (options.preRequest === false) return false;
    if (this.#preRequestFound) return true;
    const now = performance.now();
    if (now - this.#preRequestAskedAt < preRequestAskedEveryMs) return false;
    const text = "select to_regprocedure($1) is not null as found";
    const answer = await this.#ask(client, { text, values: [this.#preRequestName] });
    this.#preRequestFound = answer.rows[0]?.["found"] === true;
    this.#preRequestAskedAt = now;
    return this.#preRequestFound;
  }
}

const longestKeptText = 4_096;

function mayBeKept(statement: GatewayStatement): statement is GatewayStatement & { readonly keep: Keeping } {
  return statement.keep !== undefined && statement.text.length <= longestKeptText;
}

/**
 * A prepared statement keeps the types that its parameters and columns had. When a column's type changes, it fails although its text alone
 * would work, also because a value does not fit the old type. It may also have been deallocated on the connection. A call names its types.
 * An error that the called function raises can look the same; then it is called twice, and the first call is undone. A missing privilege
 * does not look like that.
 */
function mayBeOutdated(keep: Keeping, error: unknown): boolean {
  const failures = { read: /^(?:0A000|22|26000|42(?!501))/, call: /^(?:0A000|26000|42(?!501))/ };
  return failures[keep].test(sqlStateOf(error) ?? "");
}

const allBusy = "All connections to the database are in use.";

function tooMany(): HeadroomError {
  return new HeadroomError(
    "rate_limited",
    "Too many requests of yours, or of your workspace or key, are in progress at once.",
    {
      hint: "Wait for some of them to finish, then try again.",
    },
  );
}

function tooLong(waitSeconds: number): HeadroomError {
  return new HeadroomError("rate_limited", "Your requests have kept the database busy for too long.", {
    hint: `Try again in ${waitSeconds} s, one after the other; ask for fewer rows, or by conditions that are cheaper.`,
  });
}

const begin: BatchStatement = { name: "headroom_begin", text: "begin" };

/** Only for the transaction, like every setting here: poolers refuse most settings at the start of a connection. */
const boundText = "select set_config('statement_timeout', $1, true)";

const enterText = `select set_config('headroom.secret_key', $1, true), set_config('headroom.secret_key_previous', $2, true),
  set_config('request.jwt.claims', $3, true), set_config('request.headers', $4, true), set_config('request.method', $5, true),
  set_config('request.path', $6, true), set_config('headroom.client_network', $7, true),
  set_config('transaction_read_only', coalesce($8, current_setting('transaction_read_only')), true),
  set_config('statement_timeout', $9, true), set_config('role', $10, true)`;

/** A name as SQL writes it. */
export function quoted(name: string): string {
  if (name.includes("\0")) throw new HeadroomError("invalid_input", "A name cannot hold a zero byte.");
  return `"${name.replaceAll('"', '""')}"`;
}
