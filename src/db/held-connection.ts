/**
 * One connection of a pool, held for one purpose, and opened again when it is lost.
 *
 * Owns: the connection's life. Does not own: the queries, nor whether a lost query may be repeated: only
 * the caller knows.
 */
import type { Notification, Pool, PoolClient } from "pg";
import type { Queryable } from "./call.ts";
import { HeadroomError, isRetryableConnectionError } from "./errors.ts";
import { deferred } from "./wait/deferred.ts";
import { Semaphore } from "./wait/semaphore.ts";
import { withTimeout } from "./wait/with-timeout.ts";

const unreadMs = 30_000;
/** A server that does not answer does not close the connection properly either. */
const goneMs = 2_000;

export class HeldConnection {
  readonly #pool: Pool;
  readonly #onLost: (() => void) | undefined;
  #client: PoolClient | undefined;
  #opening: Promise<PoolClient> | undefined;
  #closed = false;
  /** Aborts the opening that is under way. */
  #openingCut = new AbortController();
  /** One piece of work at a time, in the order in which they were asked for. */
  readonly #turn = new Semaphore(1);

  constructor(pool: Pool, onLost?: () => void) {
    this.#pool = pool;
    this.#onLost = onLost;
  }

  /** Runs the work on the connection, opening it first where needed. A connection that failed is thrown away. */
  use<T>(work: (db: Queryable) => Promise<T>): Promise<T> {
    return this.#inTurn(async (client) => {
      try {
        return await work(client);
      } catch (error) {
        if (isRetryableConnectionError(error)) this.#drop(client);
        throw error;
      }
    });
  }

  /** Whether the server answers over this connection. It waits its turn. */
  async answers(): Promise<boolean> {
    return this.use((db) => db.query({ text: "select 1", values: [] })).then(
      () => true,
      () => false,
    );
  }

  /** Opens the connection, if it is not open, and passes on notifications for as long as it lives. */
  listen(channel: string, onNotification: (payload: string) => void): Promise<void> {
    return this.#inTurn(async (client) => {
      client.removeAllListeners("notification");
      client.on("notification", (notification: Notification) => onNotification(notification.payload ?? ""));
      await client.query(`listen ${channel}`);
    });
  }

  #inTurn<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    return this.#turn.use(async () => work(await this.#open()));
  }

  async #open(): Promise<PoolClient> {
    if (this.#closed) throw new HeadroomError("connection_lost", "This connection has been closed.");
    if (this.#client !== undefined) return this.#client;
    this.#opening ??= this.#connect().finally(() => (this.#opening = undefined));
    const client = await this.#opening;
    if (this.#client === client) return client;
    // Closed while it was being opened: a caller that waits for the pool to end would wait for this one forever.
    if (this.#closed) {
      discard(client);
      throw new HeadroomError("connection_lost", "This connection has been closed.");
    }
    this.#client = client;
    client.once("error", () => this.#drop(client));
    client.once("end", () => this.#drop(client));
    return client;
  }

  /**
   * A process that stops reading in the middle of an answer leaves its transaction open, with all its locks. The server drops the connection when
   * the client has read nothing for this long. Over a Unix socket, and behind a pooler, it cannot tell.
   */
  async #connect(): Promise<PoolClient> {
    const { signal } = (this.#openingCut = new AbortController());
    const client = await this.#pool.connect();
    try {
      const setting = client.query("select set_config('tcp_user_timeout', $1, false)", [`${unreadMs}`]);
      const { kind } = await withTimeout(setting, signal);
      if (kind === "late") throw new HeadroomError("connection_lost", "The server did not answer a new connection.");
      return client;
    } catch (error) {
      discard(client);
      throw error;
    }
  }

  #drop(client: PoolClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    discard(client);
    this.#onLost?.();
  }

  /** Aborts the work under way and drops its connection; the next use opens another. */
  cut(): void {
    this.#openingCut.abort();
    if (this.#client !== undefined) this.#drop(this.#client);
  }

  /** Closes the connection and opens another, never two at the same time: for a check whether one can be had. */
  renew(): Promise<unknown> {
    const client = this.#client;
    if (client === undefined) return this.use(() => Promise.resolve());
    const { promise: ended, resolve } = deferred<void>();
    client.once("end", () => resolve());
    this.#drop(client);
    return withTimeout(ended, goneMs).then(() => this.use(() => Promise.resolve()));
  }

  close(): void {
    this.#closed = true;
    this.#openingCut.abort();
    const client = this.#client;
    this.#client = undefined;
    if (client === undefined) return;
    client.removeAllListeners("notification");
    discard(client);
  }
}

function discard(client: PoolClient): void {
  // A pooled client without a listener would end the process on its next error.
  client.on("error", () => undefined);
  client.release(true);
}
