/**
 * Causes the faults: several actors in parallel, each with its own random source, until time is up.
 *
 * Owns: which fault when, and that every step boundary gets its turn. It restores everything: relays that were
 * stopped continue, the database is up, nobody holds a transaction.
 */
import { isRetryableConnectionError, toHeadroomError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import type { RelayStep } from "../../../src/outbox/observe/steps.ts";
import type { FaultPlan } from "../../integration/rails/receiver/receiver-faults.ts";
import type { Random } from "../kit/random.ts";
import type { Run } from "../kit/run.ts";
import { connectTo } from "../kit/stage.ts";
import { audit } from "./oracle.ts";
import type { RelayProcess } from "./relay-process.ts";
import type { ChanceOf } from "./settings.ts";
import type { Stage } from "./stage.ts";

/** A trap that no relay reaches for this long is removed and set again later. */
const trapPatienceMs = 6_000;

/** Resolves when time is up and the last fault has ended. */
export async function direct(stage: Stage, run: Run): Promise<void> {
  const { faults, faultsMs, seed } = stage.settings;
  const director = new Director(stage, run);
  await stage.receiver.setFaults(planOf(faults.weather, seed, faults.maxFaultsPerRow));
  await Promise.all([
    // The receiver's bad spells are a separate fault, and continue even if the other actors have nothing to do.
    pause(faultsMs, run.over),
    director.everyTrap(faults.killAt, (step, random) => director.killAt(step, random)),
    director.everyTrap(faults.stopAt, (step, random) => director.stopAt(step, random)),
    run.every(faults.accidentEveryMs, (random) => director.haveAccident(random)),
    run.every(faults.crashEveryMs, (random) => director.crashDatabase(random)),
    run.every(faults.openSnapshotEveryMs, (random) => director.holdSnapshot(random)),
    run.every(faults.operatorEveryMs, () => director.askOperator()),
    run.every(faults.stormEveryMs, (random) => director.storm(random)),
    run.every(faults.auditEveryMs, () => director.audit()),
  ]);
  await stage.receiver.setFaults({});
}

class Director {
  readonly #stage: Stage;
  readonly #run: Run;
  readonly #over: AbortSignal;

  constructor(stage: Stage, run: Run) {
    this.#stage = stage;
    this.#run = run;
    this.#over = run.over;
  }

  /** Takes the steps in shuffled rounds, so that none is left out; a step that no relay reached soon gets another turn. */
  async everyTrap(
    steps: readonly RelayStep[],
    act: (step: RelayStep, random: Random) => Promise<boolean>,
  ): Promise<void> {
    if (steps.length === 0) return;
    const round: RelayStep[] = [];
    await this.#run.every(this.#stage.settings.faults.trapEveryMs, async (random) => {
      if (round.length === 0) round.push(...random.shuffled(steps));
      const step = round.shift();
      if (step === undefined) return;
      if (!(await act(step, random))) round.splice(1, 0, step);
    });
  }

  async killAt(step: RelayStep, random: Random): Promise<boolean> {
    const relay = this.#chooseRelay(random, false);
    if (relay === undefined || !(await this.#trap(relay, step, "SIGKILL", random))) return false;
    this.#stage.faults.add(`kill -9 at ${step}`, relay.name, 500);
    await relay.ended;
    return true;
  }

  async stopAt(step: RelayStep, random: Random): Promise<boolean> {
    const relay = this.#chooseRelay(random, true);
    if (relay === undefined) return false;
    relay.busy = true;
    try {
      if (!(await this.#trap(relay, step, "SIGSTOP", random))) return false;
      await this.#keepStopped(relay, `stop at ${step}`, random);
      return true;
    } finally {
      relay.busy = false;
    }
  }

  /** A relay that no other actor is using. An actor that keeps one for long leaves another one running. */
  #chooseRelay(random: Random, forLong: boolean): RelayProcess | undefined {
    const free = this.#stage.fleet.available;
    const needed = forLong ? Math.min(2, this.#stage.settings.relays) : 1;
    return free.length < needed ? undefined : random.pick(free);
  }

  /** Sets a trap and waits for it to trigger; removes it if it does not, or when time is up. */
  async #trap(relay: RelayProcess, step: RelayStep, signal: "SIGKILL" | "SIGSTOP", random: Random): Promise<boolean> {
    relay.busy = true;
    relay.instruct({ kind: "trap", step, signal, hits: random.between(...this.#stage.settings.faults.trapHits) });
    const deadline = performance.now() + trapPatienceMs;
    let disarming = false;
    while (!relay.gone && relay.trap === "set" && performance.now() < deadline + trapPatienceMs) {
      if (!disarming && (performance.now() > deadline || this.#over.aborted)) {
        disarming = true;
        relay.instruct({ kind: "disarm" });
      }
      await pause(10);
    }
    relay.busy = signal === "SIGSTOP";
    return relay.trap === "sprung";
  }

  /** Longer than the lease, so that it wakes up holding an expired lease. */
  async #keepStopped(relay: RelayProcess, kind: string, random: Random): Promise<void> {
    const { faults, settings } = this.#stage;
    const stop = faults.add(kind, relay.name, 60_000);
    await pause(random.between(...settings.faults.stoppedMs), this.#over);
    relay.signal("SIGCONT");
    stop.toMs = Date.now() + 500;
  }

  async askOperator(): Promise<void> {
    try {
      await this.#stage.operator.work();
    } catch (error) {
      if (isRetryableConnectionError(error)) throw error;
      this.#stage.findings.add("an operator's act is taken", toHeadroomError(error).message);
    }
  }

  async haveAccident(random: Random): Promise<void> {
    const accident = random.weighted<(random: Random) => Promise<void>>([
      [() => this.#killSomewhere(random), 3],
      [() => this.#stopSomewhere(random), 2],
      [() => this.#restartInOrder(random), 3],
      [() => this.#cutConnections(random), 4],
      [() => this.#refuseConnections(random), 1],
    ]);
    await accident(random);
  }

  async #killSomewhere(random: Random): Promise<void> {
    const relay = this.#chooseRelay(random, false);
    if (relay === undefined) return;
    this.#stage.faults.add("kill -9 anywhere", relay.name, 500);
    relay.signal("SIGKILL");
    await relay.ended;
  }

  async #stopSomewhere(random: Random): Promise<void> {
    const relay = this.#chooseRelay(random, true);
    if (relay === undefined) return;
    relay.busy = true;
    relay.signal("SIGSTOP");
    await this.#keepStopped(relay, "stop anywhere", random);
    relay.busy = false;
  }

  async #restartInOrder(random: Random): Promise<void> {
    const relay = this.#chooseRelay(random, false);
    if (relay === undefined) return;
    this.#stage.faults.count("restarts in good order");
    relay.signal("SIGTERM");
    await relay.ended;
  }

  async #cutConnections(random: Random): Promise<void> {
    const share = random.pick([0.2, 0.5, 1]);
    const cut = await this.#query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'headroom relay' and random() <= $1`,
      [share],
    );
    this.#stage.faults.add("connections cut, in batches", null, 2_500);
    this.#stage.faults.count("connections cut", cut);
  }

  async #query(text: string, values: unknown[]): Promise<number> {
    const client = await connectTo(this.#stage.url, "chaos director");
    try {
      const answer = await client.query(text, values);
      return answer.rowCount ?? 0;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async #refuseConnections(random: Random): Promise<void> {
    const { receiver, faults } = this.#stage;
    faults.count("receiver refuses connections");
    await receiver.refuse();
    await pause(random.between(200, 1_200), this.#over);
    await receiver.listen();
  }

  async crashDatabase(random: Random): Promise<void> {
    const { postgres, faults } = this.#stage;
    const crash = faults.add("kill -9 of Postgres", null, 60_000);
    await postgres.crash();
    await pause(random.between(0, 1_500), this.#over);
    await postgres.restart();
    // Relays need a moment to find it again, and its first writes are slow.
    crash.toMs = Date.now() + 3_000;
  }

  /** Keeps old row versions alive, as a long report would. */
  async holdSnapshot(random: Random): Promise<void> {
    const client = await connectTo(this.#stage.url, "chaos report");
    try {
      await client.query("begin isolation level repeatable read");
      await client.query("select count(*) from outbox.heads");
      this.#stage.faults.count("snapshots held open");
      await pause(random.between(3_000, 9_000), this.#over);
      await client.query("commit");
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** The invariants hold at every moment, not only at the end. */
  async audit(): Promise<void> {
    const client = await connectTo(this.#stage.url, "chaos audit");
    try {
      await audit(client, this.#stage.findings, " (while running)");
      this.#stage.faults.count("audits while running");
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** For some seconds the receiver mostly fails, so that circuits open. */
  async storm(random: Random): Promise<void> {
    const { receiver, faults, settings } = this.#stage;
    const { weather, maxFaultsPerRow } = settings.faults;
    faults.count("receiver storms");
    await receiver.setFaults(planOf(random.pick(storms()), random.between(1, 2 ** 31), 6));
    await pause(random.between(800, 2_500), this.#over);
    await receiver.setFaults(planOf(weather, random.between(1, 2 ** 31), maxFaultsPerRow));
  }
}

function storms(): readonly (readonly ChanceOf[])[] {
  // As a date; a relay whose clock is off by hours must not compare it with that clock.
  const soon = new Date(Date.now() + 2_000).toUTCString();
  return [
    [{ fault: { kind: "status", status: 500 }, probability: 0.8 }],
    [
      { fault: { kind: "status", status: 503 }, probability: 0.4 },
      { fault: { kind: "drop" }, probability: 0.3 },
    ],
    [
      { fault: { kind: "throttle", retryAfter: 1 }, probability: 0.3 },
      { fault: { kind: "throttle", retryAfter: soon }, probability: 0.2 },
    ],
    [
      { fault: { kind: "hang" }, probability: 0.3 },
      { fault: { kind: "close" }, probability: 0.3 },
    ],
    [{ fault: { kind: "late", afterMs: 700 }, probability: 0.7 }],
  ];
}

function planOf(weather: readonly ChanceOf[], seed: number, maxPerId: number): FaultPlan {
  return { chance: { seed, maxPerId, faults: [...weather] }, slow: { pathStart: "/slow/", afterMs: 700 } };
}
