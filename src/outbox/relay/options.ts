/**
 * The options of a relay, each documented where it is declared, with its default at the end.
 *
 * Owns: the options, their defaults and the refusal of values that would make a relay unsafe. Does not own: settings of a
 * stream (retries, lease, order): those live in the database, one truth for all relays.
 */
import type { Pool } from "pg";
import { HeadroomError } from "../../db/errors.ts";
import type { Rail } from "../../contract/rail.ts";
import { builtInStreams } from "../claim/streams.ts";
import type { Log } from "../observe/log.ts";
import type { RelayStep } from "../observe/steps.ts";
import type { SidePool } from "../../db/side-pool.ts";
import type { GaugeSource } from "../upkeep/engine-tasks.ts";
import type { Task } from "../upkeep/task.ts";
import type { TaskMetrics } from "../observe/task-metrics.ts";

export interface RelayOptions {
  /** Where the database is. Either this or `pool`. */
  readonly connectionString?: string | undefined;
  /** The caller's pool; the relay takes four connections from it, up to six if there are more, and never ends it. */
  readonly pool?: Pool | undefined;
  /** The rails that this relay has. Rows on others are left to other relays. */
  readonly rails: readonly Rail[];
  /** The only streams to serve: rails of one name may belong to another program. `@built-in` means those of Headroom's migrations. */
  readonly streams: readonly string[];
  /** Shown by `headroom doctor` and `headroom outbox inspect`. Default: host name and process id. */
  readonly name?: string | undefined;
  /** Maximum calls under way at the same time in this process, over all rails. Default: 100. */
  readonly concurrency?: number | undefined;
  /** Maximum rows of one claim. Claims start small and grow while they are finished quickly. Default: 1,000. */
  readonly maxClaimRows?: number | undefined;
  /** Milliseconds between claims when nothing wakes the relay, 250 to 1,000. Default: 500. */
  readonly pollMs?: number | undefined;
  /** Whether to LISTEN for wake-ups where the server allows it. Default: true. */
  readonly listen?: boolean | undefined;
  /** What must remain of a lease beyond a rail's time-out before a send may begin. Default: 5,000. */
  readonly leaseMarginMs?: number | undefined;
  /** Milliseconds between checks for expired leases, and for lanes that nothing would wake. Default: 15,000. */
  readonly reapMs?: number | undefined;
  /** Milliseconds between making partitions ahead and collecting old ones. Default: 3,600,000. */
  readonly upkeepMs?: number | undefined;
  /** Tasks other than sending, e.g. `raiseAlerts` of "headroom/webhooks". Default: none. */
  readonly upkeepTasks?: readonly Task[] | undefined;
  /** Connections for work other than sending, if the rest of the process shares them; the caller ends them. Default: its own. */
  readonly side?: SidePool | undefined;
  /** Counts runs of tasks, if other parts of the process use the same counts. Default: its own. */
  readonly taskMetrics?: TaskMetrics | undefined;
  /** Read with each scrape and added to the metrics, e.g. `jobGauges` of "headroom/provisioning". Default: nothing. */
  readonly gauges?: readonly GaugeSource[] | undefined;
  /** How long `stop()` lets calls under way finish before it aborts them. Default: 10,000. */
  readonly stopMs?: number | undefined;
  /** Receives log entries. Default: nothing is logged. */
  readonly log?: Log | undefined;
  /** Called at each step boundary, for tests that stop or kill the process exactly there. Default: nothing. */
  readonly onStep?: ((step: RelayStep) => void) | undefined;
}

export const defaults = {
  concurrency: 100,
  maxClaimRows: 1_000,
  pollMs: 500,
  listen: true,
  leaseMarginMs: 5_000,
  reapMs: 15_000,
  upkeepMs: 3_600_000,
  stopMs: 10_000,
} as const satisfies Partial<RelayOptions>;

export interface Settings {
  readonly concurrency: number;
  readonly maxClaimRows: number;
  readonly pollMs: number;
  readonly listen: boolean;
  readonly leaseMarginMs: number;
  readonly reapMs: number;
  readonly upkeepMs: number;
  readonly stopMs: number;
}

/** The options with defaults filled in, or an error that names the one that is out of range. */
export function settingsOf(options: RelayOptions): Settings {
  if ((options.connectionString === undefined) === (options.pool === undefined)) {
    throw new HeadroomError("usage", "A relay needs a connectionString or a pool, and not both.");
  }
  if (!Array.isArray(options.streams)) {
    throw new HeadroomError("usage", "A relay serves only the streams that it names, and this one names none.", {
      hint: `Pass streams: ["orders"]. "${builtInStreams}" means those that Headroom's migrations made.`,
    });
  }
  return {
    concurrency: within("concurrency", options.concurrency, 1, 10_000),
    maxClaimRows: within("maxClaimRows", options.maxClaimRows, 1, 10_000),
    pollMs: within("pollMs", options.pollMs, 250, 1_000),
    listen: options.listen ?? defaults.listen,
    leaseMarginMs: within("leaseMarginMs", options.leaseMarginMs, 0, 600_000),
    reapMs: within("reapMs", options.reapMs, 100, 60_000),
    upkeepMs: within("upkeepMs", options.upkeepMs, 1_000, 86_400_000),
    stopMs: within("stopMs", options.stopMs, 0, 600_000),
  };
}

function within(
  name: Exclude<keyof typeof defaults, "listen">,
  value: number | undefined,
  least: number,
  most: number,
): number {
  const given = value ?? defaults[name];
  if (Number.isFinite(given) && given >= least && given <= most) return given;
  throw new HeadroomError("usage", `${name} must be from ${least} to ${most}, not ${String(value)}.`);
}
