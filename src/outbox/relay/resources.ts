/**
 * A relay's resources for as long as its process runs: rails, connections, room for calls, and the calls under way.
 *
 * Owns: opening and closing them, and registering a relay with the database and signing it off. Does not own: what is done with them.
 */
import type { Pool } from "pg";
import { call } from "../../db/call.ts";
import { createPool, surviveLostConnections } from "../../db/connect.ts";
import { HeldConnection } from "../../db/held-connection.ts";
import { SidePool } from "../../db/side-pool.ts";
import type { Rail } from "../../contract/rail.ts";
import { createRailRegistry } from "../../contract/registry.ts";
import { Places } from "../claim/places.ts";
import { readStreams, type Stream } from "../claim/streams.ts";
import { Calls } from "../dispatch/calls.ts";
import { LimitedLog } from "../observe/limited-log.ts";
import type { RelayMetrics } from "../observe/metrics.ts";
import { TaskMetrics } from "../observe/task-metrics.ts";
import type { Log } from "../observe/log.ts";
import { registerRails } from "../operate/register-rails.ts";
import { engineTasks } from "../upkeep/engine-tasks.ts";
import { Ticker } from "../upkeep/ticker.ts";
import type { RelayOptions, Settings } from "./options.ts";
import { requireSafeLeases } from "./start-checks.ts";

/** A relay that the database knows. */
export interface Announced {
  readonly relayId: number;
  readonly streams: readonly Stream[];
  /** Streams that this relay does not serve. */
  readonly left: readonly Stream[];
  /** By the number that rows carry. */
  readonly rails: ReadonlyMap<number, Rail>;
}

const tasksAtOnce = 2;

export class RelayResources {
  readonly options: RelayOptions;
  readonly settings: Settings;
  readonly rails: readonly Rail[];
  readonly pool: Pool;
  readonly claiming: HeldConnection;
  readonly settling: HeldConnection;
  readonly side: SidePool;
  readonly taskMetrics: TaskMetrics;
  readonly places: Places;
  readonly calls = new Calls();
  readonly log: Log;
  readonly limitedLog: LimitedLog;
  #railIds: Promise<ReadonlyMap<number, Rail>> | undefined;

  constructor(
    options: RelayOptions,
    settings: Settings,
    { applicationName, held }: { readonly applicationName: string; readonly held: number },
  ) {
    this.options = options;
    this.settings = settings;
    this.rails = createRailRegistry(options.rails).all();
    this.places = new Places(settings.concurrency);
    this.log = options.log ?? (() => undefined);
    this.limitedLog = new LimitedLog(this.log);
    const own = options.side === undefined ? tasksAtOnce : 0;
    this.pool =
      options.pool ?? createPool(options.connectionString ?? "", { applicationName, maxConnections: held + own });
    surviveLostConnections(this.pool);
    // With a small pool, tasks share one connection: a purpose with its own would wait forever for one that others never give back.
    const tasks = this.pool.options.max >= held + tasksAtOnce ? tasksAtOnce : 1;
    this.side = options.side ?? new SidePool(this.pool, { tasks, reads: 0 });
    this.taskMetrics = options.taskMetrics ?? new TaskMetrics();
    this.claiming = new HeldConnection(this.pool);
    this.settling = new HeldConnection(this.pool);
  }

  /** Checks streams and rails, and registers the relay under this name. Throws a HeadroomError that says what is wrong. */
  async announce(name: string, { onDemand = false } = {}): Promise<Announced> {
    const { served: streams, left } = await this.claiming.use((db) => readStreams(db, this.options.streams));
    requireSafeLeases(streams, this.rails, this.settings.leaseMarginMs);
    const rails = await this.#registered();
    const self = { p_name: name, p_rails: this.rails.map((rail) => rail.name), p_on_demand: onDemand };
    const relayId = await this.claiming.use((db) => call(db, "outbox.start_relay", self));
    return { relayId, streams, left, rails };
  }

  /** All work other than sending: the engine's own tasks, and those of layers above. */
  ticker(metrics: RelayMetrics, onRequeued?: () => void): Ticker {
    const { settings, limitedLog, log, options } = this;
    const engine = engineTasks({
      settings,
      metrics,
      limitedLog,
      onStep: options.onStep,
      ...(onRequeued && { onRequeued }),
    });
    return new Ticker({
      tasks: [...engine, ...(options.upkeepTasks ?? [])],
      lend: this.side.lend,
      everyMs: settings.reapMs,
      stopMs: settings.stopMs,
      log,
      metrics: this.taskMetrics,
    });
  }

  /** Once for each process, and again after a failure. */
  #registered(): Promise<ReadonlyMap<number, Rail>> {
    this.#railIds ??= this.claiming
      .use((db) => registerRails(db, this.rails))
      .catch((error: unknown) => {
        this.#railIds = undefined;
        throw error;
      });
    return this.#railIds;
  }

  /** Ignores what the database answers: a relay that cannot sign off is treated as dead after a while. */
  async signOff(relayId: number): Promise<void> {
    await this.claiming.use((db) => call(db, "outbox.stop_relay", { p_relay_id: relayId })).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.limitedLog.flush(true);
    this.claiming.close();
    this.settling.close();
    if (this.options.side === undefined) this.side.close();
    if (this.options.pool === undefined) await this.pool.end();
  }
}
