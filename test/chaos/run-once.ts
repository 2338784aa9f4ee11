/**
 * One whole run: put the stage up, let faults happen under load, let everything be delivered, and judge.
 */
import { Client } from "pg";
import { toHeadroomError } from "../../src/db/errors.ts";
import { relaySteps, type RelayStep } from "../../src/outbox/observe/steps.ts";
import { pause } from "../../src/db/wait/pause.ts";
import type { CrashablePostgres } from "./crashable-postgres.ts";
import { direct } from "./director.ts";
import { gatherEvidence } from "./evidence.ts";
import type { Finding } from "./findings.ts";
import type { StepCounts } from "./fleet.ts";
import { judge, type Verdict } from "./oracle.ts";
import type { RelayCounts } from "./relay-protocol.ts";
import type { Settings } from "./settings.ts";
import { openStage, type Stage } from "./stage.ts";

export interface RunResult extends Verdict {
  readonly ok: boolean;
  readonly seed: number;
  readonly relays: number;
  readonly relayProcesses: number;
  readonly durationMs: number;
  readonly faultsMs: number;
  readonly drainMs: number;
  /** Rows delivered in each second of faults and drain. */
  readonly deliveredPerSecond: number;
  readonly steps: Readonly<Record<RelayStep, Readonly<StepCounts>>>;
  readonly faults: Readonly<Record<string, number>>;
  readonly relayCounts: Omit<RelayCounts, "steps">;
  readonly logged: Readonly<Record<string, number>>;
  readonly receiver: Readonly<Record<string, number>>;
  readonly maxOpenCircuits: number;
  /** Errors that the server logged, by their words. */
  readonly databaseErrors: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

export interface RunHooks {
  /** Ends the run early; what has happened is not judged then. */
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
  /** A server to use for several runs. */
  readonly postgres?: CrashablePostgres;
}

const progressEveryMs = 5_000;

export async function runOnce(settings: Settings, hooks: RunHooks): Promise<RunResult> {
  const startedAtMs = performance.now();
  const stage = await openStage(settings, hooks.postgres);
  try {
    hooks.signal.throwIfAborted();
    stage.pulse.start();
    await stage.fleet.start();
    const faultsMs = await faultPhase(stage, hooks);
    const drainMs = await drain(stage, hooks);
    await stage.fleet.stop();
    hooks.onProgress?.("checking");
    const verdict = await passSentence(stage);
    return await summarize(stage, verdict, { faultsMs, drainMs, durationMs: performance.now() - startedAtMs });
  } finally {
    await stage.close();
  }
}

/** Load and faults, side by side, for as long as the settings say. */
async function faultPhase(stage: Stage, hooks: RunHooks): Promise<number> {
  const startedAtMs = performance.now();
  const ended = new AbortController();
  const over = AbortSignal.any([hooks.signal, ended.signal, AbortSignal.timeout(stage.settings.faultsMs)]);
  hooks.onProgress?.("the stage is up");
  stage.producers.start();
  const progress = report(stage, hooks, over);
  try {
    await direct(stage, over);
  } finally {
    ended.abort();
    await progress;
  }
  hooks.signal.throwIfAborted();
  await stage.producers.finish();
  return performance.now() - startedAtMs;
}

async function report(stage: Stage, hooks: RunHooks, over: AbortSignal): Promise<void> {
  const startedAtMs = performance.now();
  while (!over.aborted) {
    await pause(progressEveryMs, over);
    if (over.aborted) return;
    const { depth } = stage.pulse;
    const seconds = Math.round((performance.now() - startedAtMs) / 1_000);
    const up = stage.fleet.running.filter((relay) => relay.ready && !relay.busy).length;
    const state = depth === undefined ? "database down" : `${depth.pending} undelivered, ${depth.dead} dead`;
    const last = stage.faults.events.findLast(({ kind }) => kind !== "stall")?.kind ?? "none yet";
    hooks.onProgress?.(
      `${seconds} s: ${stage.producers.ledger.committed.length} enqueued, ${state}, ${up} of ${stage.settings.relays} relays well, last fault: ${last}`,
    );
  }
}

/** Faults are off; relays that were stopped go on. Resolves when nothing is left to deliver, or patience is at its end. */
async function drain(stage: Stage, hooks: RunHooks): Promise<number> {
  const { fleet, operator, pulse, settings, findings } = stage;
  hooks.onProgress?.(`faults are over; ${pulse.depth?.pending ?? "?"} rows are still to be delivered`);
  const startedAtMs = performance.now();
  fleet.calmDown();
  for (const relay of fleet.running) relay.signal("SIGCONT");
  await fleet.allReady();
  while (performance.now() - startedAtMs < settings.drainMs) {
    hooks.signal.throwIfAborted();
    await operator.work(true).catch((error: unknown) => {
      findings.add("an operator's act is taken", toHeadroomError(error).message);
    });
    if (await isEmpty(stage)) break;
    await pause(100, hooks.signal);
  }
  return performance.now() - startedAtMs;
}

async function isEmpty(stage: Stage): Promise<boolean> {
  const client = await openClient(stage);
  try {
    const answer = await client.query<{ left: number }>(
      `select ((select count(*) from outbox.pending) + (select count(*) from outbox.pending_unordered)
               + (select count(*) from outbox.claims) + (select count(*) from outbox.heads)
               + (select count(*) from outbox.dead))::int as left`,
    );
    return answer.rows[0]?.left === 0;
  } finally {
    await client.end();
  }
}

async function openClient(stage: Stage): Promise<Client> {
  const client = new Client({ connectionString: stage.url, application_name: "chaos oracle" });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

async function passSentence(stage: Stage): Promise<Verdict> {
  const { fleet, producers, operator, faults, findings, receiver } = stage;
  const names = new Map(fleet.all.flatMap(({ relayId, name }) => (relayId === undefined ? [] : [[relayId, name]])));
  const record = await receiver.record();
  const client = await openClient(stage);
  try {
    const evidence = await gatherEvidence(client, producers.ledger.intents, record, operator.skipped);
    return await judge(client, evidence, findings, faults, names);
  } finally {
    await client.end();
  }
}

async function summarize(
  stage: Stage,
  verdict: Verdict,
  times: { readonly faultsMs: number; readonly drainMs: number; readonly durationMs: number },
): Promise<RunResult> {
  const { fleet, faults, findings, settings, pulse } = stage;
  const { steps: _hits, ...relayCounts } = fleet.totals();
  checkCoverage(stage);
  const stats = await stage.receiver.stats();
  const delivered = verdict.rows.delivered + verdict.rows.resolvedAsDelivered;
  return {
    ok: !findings.any,
    seed: settings.seed,
    relays: settings.relays,
    relayProcesses: fleet.all.length,
    ...times,
    deliveredPerSecond: delivered / ((times.faultsMs + times.drainMs) / 1_000),
    ...verdict,
    steps: fleet.steps,
    faults: faults.counts,
    relayCounts,
    logged: Object.fromEntries(fleet.logged),
    receiver: stats.byFault,
    maxOpenCircuits: pulse.maxOpenCircuits,
    databaseErrors: countErrors((await stage.postgres.log()).slice(stage.logFrom)),
    findings: findings.list,
  };
}

/** Ids and numbers differ from case to case; the sentence around them is what is counted. */
function countErrors(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, severity, text] of log.matchAll(/ (ERROR|PANIC): {2}(.*)/g)) {
    const sentence = `${severity}: ${(text ?? "").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, "…")}`;
    counts[sentence] = (counts[sentence] ?? 0) + 1;
  }
  return counts;
}

/** A boundary that was never reached proves nothing. */
function checkCoverage(stage: Stage): void {
  const { fleet, findings, settings } = stage;
  if (settings.coverage === "none") return;
  for (const step of relaySteps) {
    const { hits, kills, stops } = fleet.steps[step];
    if (hits === 0) findings.add("coverage", `${step} was never reached`);
    if (settings.coverage === "every hit") continue;
    if (kills === 0) findings.add("coverage", `no relay was killed at ${step}`);
    if (stops === 0) findings.add("coverage", `no relay was stopped at ${step}`);
  }
}
