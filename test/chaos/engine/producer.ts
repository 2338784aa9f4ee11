/**
 * The producers: enqueue all the time, at a bounded pace, in their own transactions.
 */
import type { Pool } from "pg";
import { createPool } from "../../../src/db/connect.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import type { FaultLog } from "./fault-log.ts";
import type { Findings } from "../kit/findings.ts";
import { Ledger, type Intent } from "./ledger.ts";
import type { Random } from "../kit/random.ts";
import { otherPayload, repeat, twins } from "./repeats.ts";
import type { Load, TransactionKind } from "./settings.ts";
import { anyRow, orderRow } from "./streams.ts";
import { carryOut, type Desk } from "./transaction.ts";

export interface ProducerOptions {
  readonly url: string;
  readonly load: Load;
  readonly random: Random;
  readonly faults: FaultLog;
  readonly findings: Findings;
  /** How many rows are not delivered yet. */
  readonly backlog: () => number;
}

export class Producers {
  readonly ledger = new Ledger();
  readonly #options: ProducerOptions;
  readonly #pool: Pool;
  readonly #enough = new AbortController();
  readonly #closing = new AbortController();
  readonly #desk: Desk;
  #workers: Promise<unknown> = Promise.resolve();

  constructor(options: ProducerOptions) {
    this.#options = options;
    this.#pool = createPool(options.url, { applicationName: "chaos producer", maxConnections: 16 });
    this.#desk = {
      pool: this.#pool,
      ledger: this.ledger,
      findings: options.findings,
      faults: options.faults,
      closing: this.#closing.signal,
    };
  }

  start(): void {
    const { load, random } = this.#options;
    const workers = Array.from({ length: load.producers }, () => this.#work(random.fork()));
    this.#workers = Promise.all(workers);
  }

  /** Starts no new transactions; resolves when those in progress are known to have ended. */
  async finish(): Promise<void> {
    this.#enough.abort();
    await this.#workers;
  }

  async close(): Promise<void> {
    this.#enough.abort();
    this.#closing.abort();
    await this.#workers;
    await this.#pool.end();
  }

  async #work(random: Random): Promise<void> {
    const { load, backlog } = this.#options;
    const kinds = Object.entries(load.mix) as [TransactionKind, number][];
    const rowMs = (1_000 * load.producers) / load.rowsPerSecond;
    while (!this.#enough.signal.aborted) {
      const startedAtMs = performance.now();
      const rows = await this.#transact(random.weighted(kinds), random);
      const spentMs = performance.now() - startedAtMs;
      await pause(Math.max(1, rowMs * rows * (0.5 + random.next()) - spentMs), this.#enough.signal);
      while (backlog() > load.maxBacklog && !this.#enough.signal.aborted) await pause(100, this.#enough.signal);
    }
  }

  /** Returns how many rows it had. */
  async #transact(kind: TransactionKind, random: Random): Promise<number> {
    const { load, faults } = this.#options;
    const rows = (least: number, most: number): Intent[] => this.#rows(random, random.between(least, most));
    if (kind === "single") return this.#carryOut(rows(1, 1), "one by one", "commit", 0);
    if (kind === "many") return this.#carryOut(rows(2, 12), "many", "commit", 0);
    if (kind === "burst") return this.#carryOut(this.#burst(random, random.between(4, 15)), "many", "commit", 0);
    if (kind === "one by one") return this.#carryOut(inLockOrder(rows(2, 5)), "one by one", "commit", 0);
    if (kind === "held" || kind === "held for long") {
      faults.count("producer transactions held open");
      const end = random.chance(0.8) ? "commit" : "rollback";
      const intents = inLockOrder([...rows(1, 3), ...this.#burst(random, 2)]);
      return this.#carryOut(
        intents,
        "one by one",
        end,
        random.between(...(kind === "held" ? load.heldMs : load.forgottenMs)),
      );
    }
    if (kind === "rolled back") {
      const way = random.pick(["many", "one by one"] as const);
      return this.#carryOut(inLockOrder(rows(1, 6)), way, "rollback", random.chance(0.2) ? random.between(10, 200) : 0);
    }
    if (kind === "repeat") await repeat(this.#desk, random);
    else if (kind === "other payload") await otherPayload(this.#desk, random);
    else await this.#makeTwins(random);
    return 1;
  }

  async #makeTwins(random: Random): Promise<void> {
    const intent = this.ledger.open((n) => orderRow(n, random, this.#options.load.keys));
    await twins(this.#desk, random, intent);
  }

  #rows(random: Random, count: number): Intent[] {
    const { keys } = this.#options.load;
    return Array.from({ length: count }, () => this.ledger.open((n) => anyRow(n, random, keys)));
  }

  /** Several rows of one key, which a relay will claim as a run. */
  #burst(random: Random, count: number): Intent[] {
    const { keys } = this.#options.load;
    const first = this.ledger.open((n) => orderRow(n, random, keys));
    const key = first.row.key;
    const rest = Array.from({ length: count - 1 }, () => this.ledger.open((n) => orderRow(n, random, keys, key)));
    return [first, ...rest];
  }

  async #carryOut(
    intents: readonly Intent[],
    way: "many" | "one by one",
    end: "commit" | "rollback",
    heldMs: number,
  ): Promise<number> {
    await carryOut(this.#desk, { intents, way, end, heldMs });
    return intents.length;
  }
}

/** Single calls take locks one after the other; a common order prevents a deadlock of two producers. */
function inLockOrder(intents: readonly Intent[]): Intent[] {
  return intents.toSorted(
    (a, b) => a.row.stream.localeCompare(b.row.stream) || (a.row.key ?? "").localeCompare(b.row.key ?? "") || a.n - b.n,
  );
}
