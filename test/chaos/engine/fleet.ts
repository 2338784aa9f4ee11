/**
 * The relays of a run: keeps every slot filled, and records the output of all its processes.
 *
 * A process that was killed is replaced after a moment; one that ends without having been asked to is a
 * finding, because a relay has to survive every failure of its database and its receivers.
 */
import { setTimeout as delay } from "node:timers/promises";
import { relaySteps, type RelayStep } from "../../../src/outbox/observe/steps.ts";
import type { FaultLog } from "./fault-log.ts";
import type { Findings } from "../kit/findings.ts";
import type { ProcessGuard } from "./process-guard.ts";
import type { Random } from "../kit/random.ts";
import { RelayProcess } from "./relay-process.ts";
import { startFailedCode, type RelayConfig, type RelayCounts, type RelayEvent } from "./relay-protocol.ts";

export interface FleetOptions {
  readonly seats: number;
  readonly codeDir: string;
  readonly config: Omit<RelayConfig, "name" | keyof RelayTraits>;
  readonly faults: FaultLog;
  readonly findings: Findings;
  readonly guard: ProcessGuard;
  readonly random: Random;
  readonly clockOff: number;
  readonly deaf: number;
}

/** What is wrong with a relay from its start. */
type RelayTraits = Pick<RelayConfig, "clockOffMs" | "listen">;

export interface StepCounts {
  hits: number;
  kills: number;
  stops: number;
}

const startBoundMs = 20_000;
const stopBoundMs = 15_000;
const healthy: RelayTraits = { clockOffMs: 0, listen: true };

export class Fleet {
  readonly all: RelayProcess[] = [];
  readonly steps: Record<RelayStep, StepCounts>;
  /** How often relays logged each event. */
  readonly logged = new Map<string, number>();
  readonly #options: FleetOptions;
  readonly #seats: RelayProcess[] = [];
  readonly #keepers = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #calm = false;
  #generation = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    const none = relaySteps.map((step) => [step, { hits: 0, kills: 0, stops: 0 }] as const);
    this.steps = Object.fromEntries(none) as Record<RelayStep, StepCounts>;
  }

  get running(): readonly RelayProcess[] {
    return this.#seats;
  }

  get available(): RelayProcess[] {
    return this.#seats.filter((relay) => relay.available);
  }

  /** Resolves when every slot has a relay that is up. */
  async start(): Promise<void> {
    for (let seat = 0; seat < this.#options.seats; seat += 1) this.#take(seat);
    await this.allReady();
  }

  async allReady(): Promise<void> {
    const deadline = performance.now() + startBoundMs;
    while (!this.#seats.every((relay) => relay.ready)) {
      if (performance.now() > deadline) throw new Error(`not all relays are up: ${this.#describe()}`);
      await delay(20);
    }
  }

  #describe(): string {
    return this.#seats.map(({ name, ready, gone, stderr }) => JSON.stringify({ name, ready, gone, stderr })).join(", ");
  }

  /** From now on relays start with correct clocks and listen for notifications. */
  calmDown(): void {
    this.#calm = true;
  }

  #take(seat: number): void {
    const { codeDir, config, faults, guard } = this.#options;
    this.#generation += 1;
    const traits = this.#traits(seat);
    const relay = new RelayProcess({
      codeDir,
      config: { ...config, ...traits, name: `relay-${seat}-${this.#generation}` },
      onEvent: (process, event) => this.#hear(process, event),
    });
    if (traits.clockOffMs !== 0) faults.count("relay with its clock off by hours");
    if (!traits.listen) faults.count("relay deaf to NOTIFY");
    guard.watch(relay.pid);
    this.#seats[seat] = relay;
    this.all.push(relay);
    const keeper = this.#keep(seat, relay).finally(() => this.#keepers.delete(keeper));
    this.#keepers.add(keeper);
  }

  #traits(seat: number): RelayTraits {
    const { random, clockOff, deaf } = this.#options;
    // The first seat stays healthy at the start, so that a run never starts without a relay that can be woken.
    if (this.#calm || (seat === 0 && this.#generation === 1)) return healthy;
    const hoursOff = random.chance(clockOff) ? random.pick([-12, -7, -1, 1, 7, 12]) : 0;
    return { clockOffMs: hoursOff * 3_600_000, listen: !random.chance(deaf) };
  }

  /** Waits for the end of a process, and fills its slot again. */
  async #keep(seat: number, relay: RelayProcess): Promise<void> {
    const { guard, findings, random } = this.#options;
    const { code, signal } = await relay.ended;
    guard.forget(relay.pid);
    if (!relay.endWanted && code !== startFailedCode) {
      findings.add("a relay survives", `${relay.name} ended with ${code ?? signal}: ${relay.stderr.trim()}`);
    } else if (relay.endWanted && signal === null && code !== 0 && code !== startFailedCode) {
      findings.add("a relay stops in good order", `${relay.name} ended with ${code}: ${relay.stderr.trim()}`);
    }
    if (this.#closing.signal.aborted) return;
    await delay(this.#calm ? 50 : random.between(50, 700), undefined, { signal: this.#closing.signal }).catch(
      () => undefined,
    );
    if (!this.#closing.signal.aborted) this.#take(seat);
  }

  #hear(relay: RelayProcess, event: RelayEvent): void {
    const { faults, findings } = this.#options;
    if (event.kind === "trapped") {
      this.steps[event.step][event.signal === "SIGKILL" ? "kills" : "stops"] += 1;
      if (event.signal === "SIGKILL") relay.endWanted = true;
    } else if (event.kind === "stalled") {
      faults.stalled(relay.name, event.forMs);
    } else if (event.kind === "log") {
      this.logged.set(event.event, (this.logged.get(event.event) ?? 0) + 1);
      if (event.event === "settle_failed") relay.lastSettleFailure = event.text;
      if (event.event === "settle_given_up") {
        findings.add("the database takes every settle", `${event.text} after ${relay.lastSettleFailure}`);
      }
      if (event.event === "lanes_mended") findings.add("I6 no lane is ever stranded", event.text);
    }
  }

  /** Sums over all processes. The last quarter of a second of a killed process is missing. */
  totals(): RelayCounts {
    const total: RelayCounts = {
      steps: Object.fromEntries(relaySteps.map((step) => [step, 0])),
      lateSettles: 0,
      reaped: 0,
      sweptLanes: 0,
      claimErrors: 0,
      settleErrors: 0,
      notifyWakeups: 0,
    };
    for (const { counts } of this.all) {
      if (counts === undefined) continue;
      for (const step of relaySteps) total.steps[step] = (total.steps[step] ?? 0) + (counts.steps[step] ?? 0);
      total.lateSettles += counts.lateSettles;
      total.reaped += counts.reaped;
      total.sweptLanes += counts.sweptLanes;
      total.claimErrors += counts.claimErrors;
      total.settleErrors += counts.settleErrors;
      total.notifyWakeups += counts.notifyWakeups;
    }
    for (const step of relaySteps) this.steps[step].hits = total.steps[step] ?? 0;
    return total;
  }

  /** Asks all to shut down cleanly; one that does not is a finding. */
  async stop(): Promise<void> {
    this.#closing.abort();
    for (const relay of this.#seats) relay.signal("SIGTERM");
    const late = new AbortController();
    const bound = delay(stopBoundMs, undefined, { signal: late.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#seats.map((relay) => relay.ended)), bound]);
    late.abort();
    for (const relay of this.#seats) {
      if (!relay.gone) this.#options.findings.add("a relay stops in good order", `${relay.name} did not end in time`);
    }
    await this.kill();
  }

  /** No process is left afterwards. */
  async kill(): Promise<void> {
    this.#closing.abort();
    for (const relay of this.#seats) relay.signal("SIGKILL");
    await Promise.all(this.#keepers);
  }
}
