/**
 * A process' connections for everything but claiming and settling: tasks (src/outbox/upkeep/), and what rails read while they send.
 *
 * Owns: their number, and that neither kind of work takes the other's: tasks that hang do not hold up a webhook.
 * Does not own: what is done over them.
 */
import type { Pool } from "pg";
import type { Queryable } from "./call.ts";
import { createPool } from "./connect.ts";
import { HeldConnection } from "./held-connection.ts";
import { withSettings } from "./transaction.ts";
import { Semaphore } from "./wait/semaphore.ts";

/** Runs the work on a connection, with a time limit. */
export type Lend = <T>(work: (db: Queryable) => Promise<T>, timeoutMs: number) => Promise<T>;

/** Runs the work on a connection; for what is quick. */
export type Use = <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;

/** How long the server may take to report that it ended a statement. Then the connection is cut. */
const graceMs = 5_000;
/** Nobody waits any more for a read that takes longer. */
const maxReadMs = 30_000;
const tasksAtOnce = 2;
const readsAtOnce = 2;

export class SidePool {
  readonly #pool: Pool;
  readonly #tasks: Connections;
  readonly #reads: Connections;

  /** The pool must have this many connections that nobody else takes. */
  constructor(pool: Pool, { tasks, reads }: { readonly tasks: number; readonly reads: number }) {
    this.#pool = pool;
    this.#tasks = new Connections(pool, tasks);
    this.#reads = new Connections(pool, reads);
  }

  /** For tasks: one transaction, in which the server ends each statement that takes too long. */
  readonly lend: Lend = (work, timeoutMs) =>
    this.#tasks.use((db) => bounded(db, timeoutMs, () => work(db)), timeoutMs + graceMs);

  /** For what rails read while they send. */
  readonly read: Use = (work) => this.#reads.use(work, maxReadMs);

  /** Fails if no new connection can be opened. It uses the place of one for reads, so the number stays the same. */
  connect(): Promise<void> {
    return this.#reads.renewOne();
  }

  /** Cuts the connections that are still in use. */
  close(): void {
    this.#tasks.close();
    this.#reads.close();
  }

  /** Closes, and ends the pool. */
  async end(): Promise<void> {
    this.close();
    if (!this.#pool.ending) await this.#pool.end();
  }
}

/** One transaction, in which the server ends each statement that takes longer. */
export function bounded<T>(db: Queryable, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  return withSettings(db, { statement_timeout: String(Math.max(1, Math.ceil(timeoutMs))) }, work);
}

/** A side pool of four connections. */
export function openSidePool(url: string): SidePool {
  const pool = createPool(url, { applicationName: "headroom side", maxConnections: tasksAtOnce + readsAtOnce });
  return new SidePool(pool, { tasks: tasksAtOnce, reads: readsAtOnce });
}

/** A few held connections. Callers are served in order, with the free connection that was used last, because it has plans cached. */
class Connections {
  readonly #all: readonly HeldConnection[];
  readonly #free: HeldConnection[];
  readonly #room: Semaphore;

  constructor(pool: Pool, count: number) {
    this.#all = Array.from({ length: count }, () => new HeldConnection(pool));
    this.#free = [...this.#all];
    this.#room = new Semaphore(count);
  }

  use<T>(work: (db: Queryable) => Promise<T>, limitMs: number): Promise<T> {
    return this.#room.use(async () => {
      const [connection] = this.#free.splice(-1);
      if (connection === undefined) throw new Error("A semaphore lets in no more than there is room for.");
      const timer = setTimeout(() => connection.cut(), limitMs);
      try {
        return await connection.use(work);
      } finally {
        clearTimeout(timer);
        this.#free.push(connection);
      }
    });
  }

  /** The free connection that was used longest ago. */
  renewOne(): Promise<void> {
    return this.#room.use(async () => {
      const connections = this.#free.splice(0, 1);
      try {
        for (const connection of connections) await connection.renew();
      } finally {
        this.#free.unshift(...connections);
      }
    });
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }
}
