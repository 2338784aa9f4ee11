/**
 * The relay: claims rows, passes them to the rails, writes back their outcomes, and takes back what dead relays held.
 *
 * Owns: the loop, its start, and an orderly end. Does not own: claiming, sending and settling (engine.ts), nor any state. Everything that
 * must survive is in the database before the next step begins, so that a relay may die between any two of them.
 */
import { hostname } from "node:os";
import type { Pool, PoolClient } from "pg";
import { probeServer, requireUsable, type ServerReport } from "../../db/connect.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { HeldConnection } from "../../db/held-connection.ts";
import type { Use } from "../../db/side-pool.ts";
import { pause } from "../../db/wait/pause.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { Claimer } from "../claim/claimer.ts";
import { nothingFree } from "../claim/places.ts";
import { builtInStreams, type Stream } from "../claim/streams.ts";
import { RelayMetrics, renderReach } from "../observe/metrics.ts";
import { makingPartitions, readGauges } from "../upkeep/engine-tasks.ts";
import type { Task } from "../upkeep/task.ts";
import { Ticker } from "../upkeep/ticker.ts";
import { Engine } from "./engine.ts";
import { type RelayOptions, type Settings, settingsOf } from "./options.ts";
import { RelayResources } from "./resources.ts";
import { connectionsOfRelay, explainStart, requireRoom } from "./start-checks.ts";
import { Waker } from "./waker.ts";

export interface Relay {
  /** Checks everything, registers the relay, and begins. Throws a HeadroomError that says what is wrong. */
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

/** The relay's sign of life. */
const noteEveryMs = 60_000;
/** By default, a scraper gives up after ten seconds. */
const gaugesMs = 5_000;

/** Calls that cannot be abandoned end with the rail's own time-out; the relay waits this much longer after the abort. */
const abortedCallsMs = 1_000;

class RelayProcess implements Relay {
  readonly counters = new RelayMetrics();
  server: ServerReport | undefined;
  readonly #resources: RelayResources;
  readonly #settings: Settings;
  readonly #name: string;
  readonly #stopping = new AbortController();
  readonly #giveUp = new AbortController();
  readonly #claimingAhead: HeldConnection;
  readonly #ticker: Ticker;
  readonly #noting: Ticker;
  #relayId = 0;
  #engine: Engine | undefined;
  #waker: Waker | undefined;
  #started: Promise<void> | undefined;
  #loop: Promise<void> | undefined;
  #onChange: (() => void) | undefined;
  #readingGauges: Promise<string | undefined> | undefined;
  #stopped: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: RelayOptions, settings: Settings) {
    this.#settings = settings;
    this.#name = options.name ?? `${hostname()}:${process.pid}`;
    this.#resources = new RelayResources(options, settings, { applicationName: "headroom relay", held: 4 });
    this.#claimingAhead = new HeldConnection(this.#resources.pool);
    const { log, taskMetrics: metrics } = this.#resources;
    this.#ticker = this.#resources.ticker(this.counters, () => this.#waker?.wake());
    const note: Task = { name: "note", everyMs: noteEveryMs, run: async (db) => this.#waker?.note(db) };
    // Not among the others: while those hang, this relay lives.
    this.#noting = new Ticker({ tasks: [note], lend: (work) => this.#listening(work), log, metrics });
  }

  start(): Promise<void> {
    if (this.#started !== undefined) throw new HeadroomError("usage", "A relay can be started only once.");
    this.#started = this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    let engine: Engine;
    try {
      requireRoom(this.#resources.pool);
      engine = await this.#prepare();
      this.#stopping.signal.throwIfAborted();
    } catch (error) {
      await this.#signOff();
      await this.#close();
      throw explainStart(error);
    }
    this.#loop = Promise.all([this.#run(engine), this.#runAhead(engine)]).then(ignore);
    this.#resources.log({
      level: "info",
      event: "relay_started",
      relayId: this.#relayId,
      name: this.#name,
      streams: engine.claimers.length,
    });
  }

  async #prepare(): Promise<Engine> {
    const resources = this.#resources;
    const server = await this.#probe();
    this.server = server;
    const announced = await resources.announce(this.#name);
    this.#relayId = announced.relayId;
    this.#nameWhatIsLeft(announced.left);
    const engine = new Engine({
      resources,
      announced,
      metrics: this.counters,
      maxClaimRows: this.#settings.maxClaimRows,
      prepare: server.preparedStatements,
      mayNotSend: () => this.#stopping.signal.aborted,
      giveUp: this.#giveUp.signal,
      onSettled: () => {
        this.#waker?.nudge();
        this.#changed();
      },
    });
    this.#engine = engine;
    this.#waker = new Waker({
      pool: resources.pool,
      engine,
      relayId: this.#relayId,
      name: this.#name,
      listen: this.#settings.listen && server.listen,
      pollMs: this.#settings.pollMs,
      metrics: this.counters,
      log: resources.log,
      stopping: this.#stopping.signal,
    });
    await this.#waker.start();
    this.#ticker.start();
    this.#noting.start();
    return engine;
  }

  /** An operator who runs the installation's relay may expect it to serve every stream. */
  #nameWhatIsLeft(left: readonly Stream[]): void {
    const { options, log } = this.#resources;
    if (left.length === 0 || !options.streams.includes(builtInStreams)) return;
    const names = left.map((stream) => stream.name).join(", ");
    const message = `Not served here: ${names}. Another relay must serve them, or this one must name them as well as ${builtInStreams}.`;
    log({ level: "info", event: "streams_not_served", message });
  }

  async #probe(): Promise<ServerReport> {
    const { pool, log } = this.#resources;
    const report = await withClient(pool, (client) => withClient(pool, (rival) => probeServer(client, rival)));
    requireUsable(report);
    for (const problem of report.problems) log({ level: "warn", event: problem.code, message: problem.message });
    return report;
  }

  #run(engine: Engine): Promise<void> {
    const { claiming, places } = this.#resources;
    return this.#claimInTurn({
      next: () => engine.nextClaimer(),
      idle: async () => this.#waker?.sleep(),
      claim: (claimer) => engine.claim(claimer, claiming, places.inFlight),
    });
  }

  /**
   * A second claim at the same time, on its own connection, while a backlog goes out quickly: the server reads one set while this process
   * unpacks the other. Idle and slow streams never come here.
   */
  async #runAhead(engine: Engine): Promise<void> {
    const { pool, options } = this.#resources;
    if (pool.options.max <= connectionsOfRelay - (options.side === undefined ? 0 : 1)) return;
    await this.#claimInTurn({
      next: () => engine.claimers.find((candidate) => candidate.hasRoomAhead),
      idle: () => this.#moreRoom(),
      // Nothing that is bound for a destination: both claims would count the same free places.
      claim: (claimer) => engine.claim(claimer, this.#claimingAhead, nothingFree),
    });
  }

  /** Claims for the stream that is next, and is idle while there is none, until the relay stops. */
  async #claimInTurn({ next, idle, claim }: Turns): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const claimer = next();
      try {
        if (claimer === undefined) await idle();
        else if ((await claim(claimer)) > 0) this.#noteWork();
        failures = 0;
      } catch (error) {
        failures += 1;
        await this.#recover(error, failures, claimer);
      }
    }
  }

  readonly #listening: Use = (work) => {
    if (this.#waker === undefined) throw new Error("A relay that has not started gives no sign of life.");
    return this.#waker.use(work);
  };

  #noteWork(): void {
    this.#waker?.noteWork();
    this.#changed();
  }

  /** Resolves when rows have been claimed or settled since, or the relay stops. */
  #moreRoom(): Promise<void> {
    return new Promise((resolve) => (this.#onChange = resolve));
  }

  #changed(): void {
    this.#onChange?.();
    this.#onChange = undefined;
  }

  async #recover(error: unknown, failures: number, claimer: Claimer | undefined): Promise<void> {
    const { code, sqlState } = toHeadroomError(error);
    this.counters.claimErrors += 1;
    if (claimer !== undefined) claimer.hot = true;
    this.#resources.log({ level: "error", event: "claim_failed", code, sqlState, failures });
    if (code === "partition_missing") await this.#ticker.run(makingPartitions);
    await pause(Math.min(50 * 2 ** failures, 5_000) * (0.5 + Math.random() / 2), this.#stopping.signal);
  }

  async metrics(): Promise<string> {
    const [answered, read] = await Promise.all([
      withTimeout(this.#resources.claiming.answers(), gaugesMs),
      withTimeout(this.#gauges(), gaugesMs),
    ]);
    const gauges = read.kind === "done" ? read.value : undefined;
    const { taskMetrics } = this.#resources;
    const isUp = gauges !== undefined || (answered.kind === "done" && answered.value);
    // Without its database a relay still reports what it counted, and that the database is down.
    return [
      await this.counters.render(),
      await taskMetrics.render(),
      await renderReach(isUp, gauges !== undefined),
      gauges ?? "",
    ].join("");
  }

  /** One reading at a time, however often a scraper asks: tasks wait for the same connections. */
  #gauges(): Promise<string | undefined> {
    const { side, options } = this.#resources;
    this.#readingGauges ??= readGauges(side.lend, options.gauges ?? [])
      .catch(() => undefined)
      .finally(() => (this.#readingGauges = undefined));
    return this.#readingGauges;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const { stopMs } = this.#settings;
    const { calls, log } = this.#resources;
    this.#stopping.abort();
    void this.#ticker.stop();
    void this.#noting.stop();
    this.#waker?.nudge();
    this.#changed();
    // A start that is still under way sees the signal, and undoes itself.
    await this.#started?.catch(() => undefined);
    await withTimeout(this.#finishCalls(), stopMs);
    if (this.#engine?.isSending === true) {
      calls.abandonAll();
      await withTimeout(this.#engine.sent(), abortedCallsMs);
    }
    // A database that does not answer must not keep a stopping relay: what is unwritten is left to its lease.
    await withTimeout(this.#finishWriting(), stopMs + abortedCallsMs);
    this.#giveUp.abort();
    await withTimeout(this.#signOff(), abortedCallsMs);
    await this.#close();
    log({ level: "info", event: "relay_stopped", relayId: this.#relayId });
  }

  async #finishCalls(): Promise<void> {
    await this.#loop;
    await this.#engine?.sent();
  }

  async #finishWriting(): Promise<void> {
    await this.#engine?.written();
    await this.#ticker.stop();
  }

  async #signOff(): Promise<void> {
    if (this.#relayId !== 0) await this.#resources.signOff(this.#relayId);
  }

  #close(): Promise<void> {
    this.#closed ??= this.#closeAll();
    return this.#closed;
  }

  async #closeAll(): Promise<void> {
    this.#stopping.abort();
    void this.#ticker.stop();
    void this.#noting.stop();
    this.#giveUp.abort();
    this.#waker?.close();
    this.#claimingAhead.close();
    await this.#resources.close();
  }
}

interface Turns {
  readonly next: () => Claimer | undefined;
  readonly idle: () => Promise<void>;
  /** Returns how many rows it claimed. */
  readonly claim: (claimer: Claimer) => Promise<number>;
}

function ignore(): void {}

async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // A connection that breaks while it is idle must not end the process.
  client.on("error", ignore);
  try {
    return await work(client);
  } finally {
    client.off("error", ignore);
    client.release();
  }
}
