/**
 * The relay: looks for work, hands it to the rails, writes back what came of it, and looks after what others left behind.
 *
 * Owns: the loop, its connections (one to claim, one to settle, one to listen, one for upkeep) and an orderly end. Does not
 * own: any truth. Everything that must survive is in the database before the next step begins, so that a relay may die
 * between any two of them.
 */
import { hostname } from "node:os";
import type { Pool, PoolClient } from "pg";
import { call } from "../db/call.ts";
import { createPool, probeServer, requireUsable, type ServerReport, surviveLostConnections } from "../db/connect.ts";
import { HeadroomError, toHeadroomError } from "../db/errors.ts";
import { createRailRegistry } from "../rails/registry.ts";
import type { Rail } from "../rails/rail.ts";
import { Claimer } from "./claimer.ts";
import { Dispatcher } from "./dispatcher.ts";
import type { Moment } from "./elapsed.ts";
import type { ClaimedRow } from "./message.ts";
import { RelayMetrics, renderDatabaseUp } from "./metrics.ts";
import { type RelayLogEntry, type RelayOptions, type Settings, settingsOf } from "./options.ts";
import { pause } from "../db/pause.ts";
import { withTimeout } from "../db/with-timeout.ts";
import { nothingFree, Places } from "./places.ts";
import { HeldConnection } from "../db/held-connection.ts";
import { Settler } from "./settler.ts";
import { connectionsOfRelay, explainStart, requireRoom } from "./start-checks.ts";
import { readStreams, registerRails, requireSafeLeases, type Stream } from "./streams.ts";
import { Calls } from "./timed.ts";
import { Upkeep } from "./upkeep.ts";
import { Waker } from "./waker.ts";

export interface Relay {
  /** Checks everything, announces the relay, and begins. Throws a HeadroomError that says what is wrong. */
  start(): Promise<void>;
  /** Stops claiming, lets calls under way finish for up to `stopMs`, hands back the rest, and closes. */
  stop(): Promise<void>;
  /** Prometheus text: this relay's counters and the database's gauges. */
  metrics(): Promise<string>;
  readonly counters: RelayMetrics;
  /** What the start-up probe found, once started. */
  readonly server: ServerReport | undefined;
}

export function createRelay(options: RelayOptions): Relay {
  return new RelayProcess(options, settingsOf(options));
}

/** Whoever scrapes gives up after ten seconds, by default. */
const gaugesMs = 5_000;

/** The calls that cannot be abandoned end with the rail's own time-out; this much is waited beyond the abort. */
const abortedCallsMs = 1_000;

class RelayProcess implements Relay {
  readonly counters = new RelayMetrics();
  server: ServerReport | undefined;
  readonly #options: RelayOptions;
  readonly #settings: Settings;
  readonly #name: string;
  readonly #pool: Pool;
  readonly #rails: readonly Rail[];
  readonly #calls = new Calls();
  readonly #places: Places;
  readonly #stopping = new AbortController();
  readonly #giveUp = new AbortController();
  readonly #log: (entry: RelayLogEntry) => void;
  readonly #claiming: HeldConnection;
  readonly #claimingAhead: HeldConnection;
  readonly #settling: HeldConnection;
  readonly #dispatches = new Set<Promise<void>>();
  #claimers: Claimer[] = [];
  #relayId = 0;
  #waker: Waker | undefined;
  #upkeep: Upkeep | undefined;
  #settler: Settler | undefined;
  #dispatcher: Dispatcher | undefined;
  #started: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #onChange: (() => void) | undefined;
  #stopped: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RelayOptions, settings: Settings) {
    this.#options = options;
    this.#settings = settings;
    this.#rails = createRailRegistry(options.rails).all();
    this.#places = new Places(settings.concurrency);
    this.#name = options.name ?? `${hostname()}:${process.pid}`;
    this.#log = options.log ?? (() => undefined);
    this.#pool =
      options.pool ??
      createPool(options.connectionString ?? "", { applicationName: "headroom relay", maxConnections: 6 });
    surviveLostConnections(this.#pool);
    this.#claiming = new HeldConnection(this.#pool);
    this.#claimingAhead = new HeldConnection(this.#pool);
    this.#settling = new HeldConnection(this.#pool);
  }

  start(): Promise<void> {
    if (this.#started !== undefined) throw new HeadroomError("usage", "A relay is started once.");
    this.#started = this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    try {
      requireRoom(this.#pool);
      await this.#prepare();
      this.#stopping.signal.throwIfAborted();
    } catch (error) {
      await this.#signOff();
      await this.#close();
      throw explainStart(error);
    }
    this.#loop = Promise.all([this.#run(), this.#runAhead()]).then(ignore);
    this.#log({
      level: "info",
      event: "relay_started",
      relayId: this.#relayId,
      name: this.#name,
      streams: this.#claimers.length,
    });
  }

  async #prepare(): Promise<void> {
    const { leaseMarginMs, concurrency, maxClaimRows } = this.#settings;
    const { onStep } = this.#options;
    this.server = await this.#probe();
    const streams = await this.#claiming.use((db) => readStreams(db, this.#options.streams));
    requireSafeLeases(streams, this.#rails, leaseMarginMs);
    const railsById = await this.#claiming.use((db) => registerRails(db, this.#rails));
    const announced = { p_name: this.#name, p_rails: this.#rails.map((rail) => rail.name) };
    this.#relayId = await this.#claiming.use((db) => call(db, "outbox.start_relay", announced));
    // Without a rail there is nothing to send; what would be claimed would only be handed back, over and over.
    const served = this.#rails.length === 0 ? [] : streams;
    this.#claimers = served.map((stream) => new Claimer(stream, maxClaimRows, concurrency));
    this.#settler = new Settler({
      connection: this.#settling,
      metrics: this.counters,
      prepare: this.server.preparedStatements,
      log: this.#log,
      onStep,
      giveUp: this.#giveUp.signal,
      onSettled: (stream, rows) => this.#settled(stream, rows),
    });
    const settler = this.#settler;
    this.#dispatcher = new Dispatcher({
      rails: railsById,
      places: this.#places,
      calls: this.#calls,
      leaseMarginMs,
      connection: this.#claiming,
      onStep,
      onResult: (stream, result) => settler.add(stream, result),
      stopping: () => this.#stopping.signal.aborted,
    });
    this.#waker = new Waker({
      pool: this.#pool,
      claiming: this.#claiming,
      relayId: this.#relayId,
      name: this.#name,
      listen: this.#settings.listen && this.server.listen,
      pollMs: this.#settings.pollMs,
      metrics: this.counters,
      log: this.#log,
      stopping: this.#stopping.signal,
      claimers: this.#claimers,
      places: this.#places,
    });
    await this.#waker.start();
    this.#upkeep = new Upkeep({
      pool: this.#pool,
      relayId: this.#relayId,
      settings: this.#settings,
      metrics: this.counters,
      log: this.#log,
      onStep,
      stopping: this.#stopping.signal,
      noteAlive: () => this.#waker?.noteAlive() ?? Promise.resolve(),
      onRequeued: () => this.#waker?.wake(),
    });
    this.#upkeep.start();
  }

  async #probe(): Promise<ServerReport> {
    const report = await withClient(this.#pool, (client) =>
      withClient(this.#pool, (rival) => probeServer(client, rival)),
    );
    requireUsable(report);
    for (const problem of report.problems) {
      this.#log({ level: "warn", event: problem.code, message: problem.message });
    }
    return report;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const claimer = this.#nextClaimer();
      try {
        if (claimer === undefined) await this.#waker?.sleep();
        else await this.#claimFor(claimer, this.#claiming);
        failures = 0;
      } catch (error) {
        failures += 1;
        await this.#recover(error, failures, claimer);
      }
    }
  }

  /**
   * A second claim beside the first, on a connection of its own, while a backlog goes out quickly: the server reads one set
   * while this process unpacks the other. Idle and slow streams never come here.
   */
  async #runAhead(): Promise<void> {
    if (this.#pool.options.max <= connectionsOfRelay) return;
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const claimer = this.#claimers.find((candidate) => candidate.hasRoomAhead);
      try {
        if (claimer === undefined) await this.#moreRoom();
        else await this.#claimFor(claimer, this.#claimingAhead);
        failures = 0;
      } catch (error) {
        failures += 1;
        await this.#recover(error, failures, claimer);
      }
    }
  }

  /** Resolves when rows have been claimed or settled since, or the relay stops. */
  #moreRoom(): Promise<void> {
    return new Promise((resolve) => (this.#onChange = resolve));
  }

  #changed(): void {
    this.#onChange?.();
    this.#onChange = undefined;
  }

  /** Streams take turns, so that a backlog on one does not starve the others. */
  #nextClaimer(): Claimer | undefined {
    const index = this.#claimers.findIndex((claimer) => claimer.hot && claimer.hasRoom);
    const claimer = this.#claimers[index];
    if (claimer === undefined) return undefined;
    this.#claimers.splice(index, 1);
    this.#claimers.push(claimer);
    return claimer;
  }

  async #claimFor(claimer: Claimer, connection: HeldConnection): Promise<void> {
    const { onStep } = this.#options;
    onStep?.("claim.before");
    const prepare = this.server?.preparedStatements ?? false;
    // A second claim at the same time must not bring what the first one brings: both would be told of the same free places.
    const inFlight = connection === this.#claiming ? this.#places.inFlight : nothingFree;
    const { rows, claimedAt } = await claimer.claim(connection, this.#relayId, prepare, inFlight);
    onStep?.("claim.after");
    if (rows.length === 0) return;
    this.counters.claimBatches += 1;
    this.counters.countAttempts("DISPATCHING", rows.length);
    this.#waker?.noteWork();
    const dispatch = this.#dispatch(claimer, rows, claimedAt).finally(() => this.#dispatches.delete(dispatch));
    this.#dispatches.add(dispatch);
    this.#changed();
  }

  async #dispatch(claimer: Claimer, rows: readonly ClaimedRow[], claimedAt: Moment): Promise<void> {
    const startedAtMs = performance.now();
    await this.#dispatcher?.dispatch(claimer.stream, rows, claimedAt);
    claimer.learn(rows.length, performance.now() - startedAtMs);
  }

  #settled(stream: Stream, rows: number): void {
    const claimer = this.#claimers.find((candidate) => candidate.stream === stream);
    claimer?.settled(rows);
    this.#waker?.nudge();
    this.#changed();
  }

  async #recover(error: unknown, failures: number, claimer: Claimer | undefined): Promise<void> {
    const failure = toHeadroomError(error);
    this.counters.claimErrors += 1;
    if (claimer !== undefined) claimer.hot = true;
    this.#log({ level: "error", event: "claim_failed", code: failure.code, sqlState: failure.sqlState, failures });
    if (failure.code === "partition_missing") await this.#upkeep?.makePartitions();
    await pause(Math.min(50 * 2 ** failures, 5_000) * (0.5 + Math.random() / 2), this.#stopping.signal);
  }

  async metrics(): Promise<string> {
    const read = await withTimeout(this.#gauges(), gaugesMs);
    const gauges = read.kind === "done" ? read.value : undefined;
    // Without its database a relay still tells what it counted, and that it is alone.
    const parts = [await this.counters.render(), await renderDatabaseUp(gauges !== undefined), gauges ?? ""];
    return parts.join("");
  }

  async #gauges(): Promise<string | undefined> {
    return this.#upkeep?.gauges().catch(() => undefined);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { stopMs } = this.#settings;
    this.#stopping.abort();
    this.#waker?.nudge();
    this.#changed();
    // A start that is still under way sees the signal, and undoes itself.
    await this.#started?.catch(() => undefined);
    await withTimeout(this.#finishCalls(), stopMs);
    if (this.#dispatches.size > 0) {
      this.#calls.abandonAll();
      await withTimeout(Promise.all(this.#dispatches), abortedCallsMs);
    }
    // A database that does not answer must not keep a stopping relay: what is unwritten is left to its lease.
    await withTimeout(this.#finishWriting(), stopMs + abortedCallsMs);
    this.#giveUp.abort();
    await withTimeout(this.#signOff(), abortedCallsMs);
    await this.#close();
    this.#log({ level: "info", event: "relay_stopped", relayId: this.#relayId });
  }

  async #finishCalls(): Promise<void> {
    await this.#loop;
    await Promise.all(this.#dispatches);
  }

  async #finishWriting(): Promise<void> {
    await this.#settler?.idle();
    await this.#upkeep?.stop();
  }

  async #signOff(): Promise<void> {
    if (this.#relayId === 0) return;
    const self = { p_relay_id: this.#relayId };
    await this.#claiming.use((db) => call(db, "outbox.stop_relay", self)).catch(() => undefined);
  }

  #close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    this.#stopping.abort();
    this.#giveUp.abort();
    this.#waker?.close();
    this.#upkeep?.close();
    this.#claiming.close();
    this.#claimingAhead.close();
    this.#settling.close();
    if (this.#options.pool === undefined) await this.#pool.end();
  }
}

function ignore(): void {}

async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks while nobody asks it anything must not end the process.
  client.on("error", ignore);
  try {
    return await work(client);
  } finally {
    client.off("error", ignore);
    client.release();
  }
}
