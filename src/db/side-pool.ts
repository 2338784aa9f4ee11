/**
 * The connections of a process for everything that it does beside claiming and settling: tasks (src/outbox/upkeep/), and what rails read while they send.
 *
 * Owns: how many there are, and that neither kind of work takes those of the other: tasks that hang do not keep a webhook from its endpoint.
 * Does not own: what is done over them.
 */
import type { Pool } from "pg";
import type { Queryable } from "./call.ts";
import { createPool } from "./connect.ts";
import { HeldConnection } from "./held-connection.ts";
import { withSettings } from "./transaction.ts";
import { Semaphore } from "./wait/semaphore.ts";

/** Runs the work on a connection, for no longer than so long. */
export type Lend = <T>(work: (db: Queryable) => Promise<T>, timeoutMs: number) => Promise<T>;

/** Runs the work on a connection; for what is quick. */
export type Use = <T>(work: (db: Queryable) => Promise<T>) => Promise<T>;

/** How long a server that has to end a statement may take to say so. Then the connection is cut. */
const graceMs = 5_000;
/** A read that takes longer is one that nobody waits for any more. */
const maxReadMs = 30_000;
const tasksAtOnce = 2;
const readsAtOnce = 2;

export class SidePool {
  readonly #pool: Pool;
  readonly #tasks: Connections;
  readonly #reads: Connections;

  /** Nobody else may take so many connections of the pool. */
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

  /** Fails when no new connection can be had. It takes the place of one for reads, so that there are never more. */
  connect(): Promise<void> {
    return this.#reads.renewOne();
  }

  /** Cuts what is still in use. */
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

/** A few held connections. Who came first gets the next that is free, and the one that was used last is used again: it has its plans. */
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

  /** Of those that are free, the one that was used least. */
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
