/**
 * The stage of a run: a database of its own, a receiver, relays, producers and an operator, each real and each apart.
 *
 * Owns: putting it up and taking it down, whatever happened in between. Does not own: the faults (director.ts), nor the
 * verdict (oracle.ts).
 */
import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { migrate } from "../../src/db/migrate.ts";
import { join } from "node:path";
import { spawnReceiver, type ReceiverClient } from "../integration/rails/receiver/receiver-client.ts";
import { keepFewPartitions } from "../helpers/clusters.ts";
import { CrashablePostgres } from "./crashable-postgres.ts";
import { FaultLog } from "./fault-log.ts";
import { Findings } from "./findings.ts";
import { Fleet } from "./fleet.ts";
import { Operator } from "./operator.ts";
import { startProcessGuard, type ProcessGuard } from "./process-guard.ts";
import { Producers } from "./producer.ts";
import { Pulse } from "./pulse.ts";
import { Random } from "./random.ts";
import type { Settings } from "./settings.ts";
import { makeStreams, streamNames } from "./streams.ts";

export interface Stage {
  readonly settings: Settings;
  readonly random: Random;
  readonly postgres: CrashablePostgres;
  readonly url: string;
  /** Where the server's log stood when the run began. */
  readonly logFrom: number;
  readonly receiver: ReceiverClient;
  readonly fleet: Fleet;
  readonly producers: Producers;
  readonly operator: Operator;
  readonly pulse: Pulse;
  readonly faults: FaultLog;
  readonly findings: Findings;
  close(): Promise<void>;
}

/** Undone in reverse order; one that fails does not keep the others from being undone. */
class Unwinding {
  readonly #steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.#steps.push(step);
  }

  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const step of this.#steps.toReversed()) await step().catch((error: unknown) => failures.push(error));
    this.#steps.length = 0;
    if (failures.length > 0) throw new AggregateError(failures, "the stage could not be cleared");
  }
}

/** Puts everything up. A server may be shared by runs one after the other; each has its own database. */
export async function openStage(settings: Settings, shared?: CrashablePostgres): Promise<Stage> {
  const unwinding = new Unwinding();
  try {
    return await build(settings, shared, unwinding);
  } catch (error) {
    await unwinding.run();
    throw error;
  }
}

async function build(settings: Settings, shared: CrashablePostgres | undefined, unwinding: Unwinding): Promise<Stage> {
  const random = new Random(settings.seed);
  const faults = new FaultLog();
  const findings = new Findings();
  const postgres = shared ?? (await CrashablePostgres.start());
  if (shared === undefined) unwinding.add(() => postgres.close());
  const logFrom = (await postgres.log()).length;
  const guard: ProcessGuard = startProcessGuard();
  unwinding.add(() => guard.close());
  const url = await postgres.createDatabase(`chaos_${randomBytes(4).toString("hex")}`);
  await prepare(url, settings);

  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  // Relays sign with their own clocks, some of which are off by hours.
  const receiver = await spawnReceiver({ secrets: [secret], toleranceSeconds: null, keepHeaders: false });
  unwinding.add(() => receiver.stop());
  const pulse = new Pulse(url, faults);
  unwinding.add(() => pulse.stop());
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
  unwinding.add(() => fleet.kill());
  const producers = new Producers({
    url,
    load: settings.load,
    random: random.fork(),
    faults,
    findings,
    backlog: () => pulse.depth?.pending ?? 0,
  });
  unwinding.add(() => producers.close());
  const operator = new Operator(url, receiver, random.fork(), faults, settings.faults.operatorShare);
  const close = (): Promise<void> => unwinding.run();
  const parts = {
    settings,
    random,
    postgres,
    url,
    logFrom,
    receiver,
    fleet,
    producers,
    operator,
    pulse,
    faults,
    findings,
  };
  return { ...parts, close };
}

async function prepare(url: string, settings: Settings): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await migrate(client, { sqlDir: join(settings.codeDir, "sql") });
    await client.query(keepFewPartitions);
    await makeStreams(client, settings);
  } finally {
    await client.end();
  }
}
