/**
 * The stage of a run: a separate database, a receiver, relays, producers and an operator, each real and each separate.
 *
 * Owns: starting it, and how each part is stopped. Does not own: the faults (director.ts), nor the
 * verdict (oracle.ts).
 */
import { randomBytes } from "node:crypto";
import type { Pool } from "pg";
import { spawnReceiver, type ReceiverClient } from "../../integration/rails/receiver/receiver-client.ts";
import { CrashablePostgres } from "../kit/crashable-postgres.ts";
import { FaultLog } from "./fault-log.ts";
import type { Findings } from "../kit/findings.ts";
import { Fleet } from "./fleet.ts";
import { Operator } from "./operator.ts";
import { startProcessGuard, type ProcessGuard } from "./process-guard.ts";
import { Producers } from "./producer.ts";
import { Pulse } from "./pulse.ts";
import type { Run } from "../kit/run.ts";
import { openPool, prepareDatabase } from "../kit/stage.ts";
import type { Settings } from "./settings.ts";
import { makeStreams, streamNames } from "./streams.ts";

export interface Stage {
  readonly settings: Settings;
  readonly postgres: CrashablePostgres;
  readonly url: string;
  /** For the operator and for questions while everything comes to rest. */
  readonly pool: Pool;
  /** Where the server's log stood when the run began. */
  readonly logFrom: number;
  readonly receiver: ReceiverClient;
  readonly fleet: Fleet;
  readonly producers: Producers;
  readonly operator: Operator;
  readonly pulse: Pulse;
  readonly faults: FaultLog;
  readonly findings: Findings;
}

/** Starts everything. Consecutive runs may share a server; each has its own database. */
export async function openStage(
  settings: Settings,
  { random, findings }: Run,
  shared: CrashablePostgres | undefined,
  undo: AsyncDisposableStack,
): Promise<Stage> {
  const faults = new FaultLog();
  const postgres = shared ?? (await CrashablePostgres.start());
  if (shared === undefined) undo.defer(() => postgres.close());
  const logFrom = (await postgres.log()).length;
  const guard: ProcessGuard = startProcessGuard();
  undo.defer(() => guard.close());
  const url = await postgres.createDatabase(`chaos_${randomBytes(4).toString("hex")}`);
  await prepareDatabase(url, settings, (client) => makeStreams(client, settings));

  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  // Relays sign with their own clocks, some of which are off by hours.
  const receiver = await spawnReceiver({ secrets: [secret], toleranceSeconds: null, keepHeaders: false });
  undo.defer(() => receiver.stop());
  const pool = openPool(url, 2);
  undo.defer(() => pool.end());
  const pulse = new Pulse(url, faults);
  undo.defer(() => pulse.stop());
  const fleet = new Fleet({
    seats: settings.relays,
    codeDir: settings.codeDir,
    config: { ...settings.relay, connectionString: url, streams: [...streamNames], receiverUrl: receiver.url, secret },
    faults,
    findings,
    guard,
    random: random.fork(),
    clockOff: settings.faults.clockOff,
    deaf: settings.faults.deaf,
  });
  undo.defer(() => fleet.kill());
  const producers = new Producers({
    url,
    load: settings.load,
    random: random.fork(),
    faults,
    findings,
    backlog: () => pulse.depth?.pending ?? 0,
  });
  undo.defer(() => producers.close());
  const operator = new Operator(pool, receiver, random.fork(), faults, settings.faults.operatorShare);
  return {
    settings,
    postgres,
    url,
    pool,
    logFrom,
    receiver,
    fleet,
    producers,
    operator,
    pulse,
    faults,
    findings,
  };
}
