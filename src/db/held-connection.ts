/**
 * One connection of a pool that is held for one purpose, and opened again after it was lost.
 *
 * Owns: the connection's life. Does not own: what is asked over it, nor whether a lost question may be asked again: only
 * the caller knows.
 */
import type { Notification, Pool, PoolClient } from "pg";
import type { Queryable } from "./call.ts";
import { HeadroomError, isRetryableConnectionError } from "./errors.ts";
import { deferred } from "./wait/deferred.ts";
import { Semaphore } from "./wait/semaphore.ts";
import { withTimeout } from "./wait/with-timeout.ts";

const unreadMs = 30_000;
/** A server that does not answer does not say goodbye either. */
const goneMs = 2_000;

export class HeldConnection {
  readonly #pool: Pool;
  readonly #onLost: (() => void) | undefined;
  #client: PoolClient | undefined;
  #opening: Promise<PoolClient> | undefined;
  #closed = false;
  /** Ends the opening that is under way. */
  #openingCut = new AbortController();
  /** One question at a time: what was asked first is answered first. */
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

  /** Whether the server answers, over this connection and in its turn. */
  async answers(): Promise<boolean> {
    return this.use((db) => db.query({ text: "select 1", values: [] })).then(
      () => true,
      () => false,
    );
  }

  /** Opens the connection, if it is not open, and hands notifications on for as long as it lives. */
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
    // Closed while it was being opened: whoever waits for the pool to end would wait for this one for ever.
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
   * A process that stops reading in the middle of an answer leaves its transaction open, with all that it holds. The server gives it up when
   * nothing was taken for so long; over a Unix socket, and behind a pooler, it cannot tell.
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

  /** Gives up what is under way, with its connection; the next use opens another. */
  cut(): void {
    this.#openingCut.abort();
    if (this.#client !== undefined) this.#drop(this.#client);
  }

  /** Closes the connection and opens another, never two at once: for whoever asks whether one can be had. */
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
