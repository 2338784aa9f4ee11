/**
 * Monitors the database: how much is undelivered, and how long a small commit takes. A machine that is busy
 * with other things may delay a settle until its lease has expired; such stalls are recorded, because they explain that.
 */
import type { Client } from "pg";
import { pause } from "../../../src/db/wait/pause.ts";
import { connectTo } from "../kit/stage.ts";
import type { FaultLog } from "./fault-log.ts";

export interface Depth {
  readonly pending: number;
  readonly inFlight: number;
  readonly dead: number;
  readonly openCircuits: number;
}

const everyMs = 250;
const stallMs = 250;

const depthQuery = `
  select (select count(*) from outbox.pending)::int + (select count(*) from outbox.pending_unordered)::int as "pending",
         (select count(*) from outbox.claims)::int as "inFlight",
         (select count(*) from outbox.dead)::int as "dead",
         (select count(*) from outbox.gates where open_until > now())::int as "openCircuits"`;

export class Pulse {
  readonly #url: string;
  readonly #faults: FaultLog;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #client: Client | undefined;
  depth: Depth | undefined;
  /** The largest number of circuits that were open at the same time. */
  maxOpenCircuits = 0;

  constructor(url: string, faults: FaultLog) {
    this.#url = url;
    this.#faults = faults;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#client?.end().catch(() => undefined);
  }

  async #run(): Promise<void> {
    let lastMs = performance.now();
    while (!this.#stopping.signal.aborted) {
      const startedAtMs = performance.now();
      try {
        await this.#beat();
      } catch {
        await this.#client?.end().catch(() => undefined);
        this.#client = undefined;
        this.depth = undefined;
      }
      const beatMs = performance.now() - startedAtMs;
      // A slow commit, or a gap between two beats, which means that this process was not scheduled.
      const gapMs = performance.now() - lastMs - beatMs - everyMs;
      if (beatMs > stallMs || gapMs > stallMs) this.#faults.stalled(null, Math.max(beatMs, gapMs) + beatMs);
      lastMs = performance.now();
      await pause(everyMs, this.#stopping.signal);
    }
  }

  async #beat(): Promise<void> {
    if (this.#client === undefined) {
      this.#client = await connectTo(this.#url, "chaos pulse");
      await this.#client.query("create table if not exists public.chaos_pulse (at timestamptz not null)");
    }
    await this.#client.query("insert into public.chaos_pulse values (clock_timestamp())");
    const answer = await this.#client.query<Depth>(depthQuery);
    this.depth = answer.rows[0];
    this.maxOpenCircuits = Math.max(this.maxOpenCircuits, this.depth?.openCircuits ?? 0);
  }
}
