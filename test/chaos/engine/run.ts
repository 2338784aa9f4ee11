/**
 * `npm run chaos`: relays deliver what producers enqueue while faults hit everything. Then the faults stop, everything is delivered, and
 * the oracle judges.
 */
import { toHeadroomError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import { relaySteps } from "../../../src/outbox/observe/steps.ts";
import type { CrashablePostgres } from "../kit/crashable-postgres.ts";
import { runPlay, type Play, type Run } from "../kit/run.ts";
import { connectTo } from "../kit/stage.ts";
import type { Hooks, RunResult, Sections } from "../kit/subject.ts";
import { direct } from "./director.ts";
import { gatherEvidence } from "./evidence.ts";
import { judge, type Verdict } from "./oracle.ts";
import type { RelayCounts } from "./relay-protocol.ts";
import type { Settings } from "./settings.ts";
import { openStage, type Stage } from "./stage.ts";

/** `postgres`: a server to use for several runs. */
export function runEngine(settings: Settings, hooks: Hooks, postgres?: CrashablePostgres): Promise<RunResult> {
  return runPlay(settings, hooks, async (run, undo) => {
    const stage = await openStage(settings, run, postgres, undo);
    stage.pulse.start();
    await stage.fleet.start();
    return playOn(stage, run);
  });
}

function playOn(stage: Stage, run: Run): Play {
  const { fleet, producers, pulse, settings } = stage;
  let verdict: Verdict | undefined;
  let counts: RelayCounts | undefined;
  return {
    /** Load and faults in parallel, for as long as the settings say. */
    async faults() {
      producers.start();
      await direct(stage, run);
      await producers.finish();
    },
    /** Stopped relays continue. Ends when nothing is left to deliver, or time is up. */
    async rest() {
      await drain(stage, run.over);
      await fleet.stop();
    },
    async judge() {
      verdict = await passSentence(stage);
      counts = fleet.totals();
      checkCoverage(stage);
    },
    async sections() {
      if (verdict === undefined || counts === undefined) throw new Error("nothing was judged");
      return sectionsOf(stage, verdict, counts, run.spentMs);
    },
    progress() {
      const { depth } = pulse;
      const up = fleet.running.filter((relay) => relay.ready && !relay.busy).length;
      const state = depth === undefined ? "database down" : `${depth.pending} undelivered, ${depth.dead} dead`;
      const last = stage.faults.events.findLast(({ kind }) => kind !== "stall")?.kind ?? "none yet";
      return `${producers.ledger.committed.length} enqueued, ${state}, ${up} of ${settings.relays} relays well, last fault: ${last}`;
    },
  };
}

async function drain(stage: Stage, over: AbortSignal): Promise<void> {
  const { fleet, operator, findings } = stage;
  fleet.calmDown();
  for (const relay of fleet.running) relay.signal("SIGCONT");
  await fleet.allReady();
  while (!over.aborted) {
    await operator.work(true).catch((error: unknown) => {
      findings.add("an operator's act is taken", toHeadroomError(error).message);
    });
    if (await isEmpty(stage)) return;
    await pause(100, over);
  }
}

async function isEmpty({ pool }: Stage): Promise<boolean> {
  const answer = await pool.query<{ left: number }>(
    `select ((select count(*) from outbox.pending) + (select count(*) from outbox.pending_unordered)
             + (select count(*) from outbox.claims) + (select count(*) from outbox.heads)
             + (select count(*) from outbox.dead))::int as left`,
  );
  return answer.rows[0]?.left === 0;
}

async function passSentence(stage: Stage): Promise<Verdict> {
  const { fleet, producers, operator, faults, findings, receiver } = stage;
  const names = new Map(fleet.all.flatMap(({ relayId, name }) => (relayId === undefined ? [] : [[relayId, name]])));
  const record = await receiver.record();
  const client = await connectTo(stage.url, "chaos oracle");
  try {
    const evidence = await gatherEvidence(client, producers.ledger.intents, record, operator.skipped);
    return await judge(client, evidence, findings, faults, names);
  } finally {
    await client.end();
  }
}

async function sectionsOf(
  stage: Stage,
  { rows, requests, reapedClaims }: Verdict,
  counts: RelayCounts,
  { faults: faultsMs, rest: drainMs }: Run["spentMs"],
): Promise<Sections> {
  const { fleet, faults, settings, pulse } = stage;
  const delivered = rows.delivered + rows.resolvedAsDelivered;
  return {
    run: {
      "relays at a time": settings.relays,
      "relay processes in all": fleet.all.length,
      "seconds of faults": Math.round(faultsMs / 1_000),
      "seconds of drain": Math.round(drainMs / 1_000),
      "delivered each second": Math.round((delivered * 1_000) / (faultsMs + drainMs)),
    },
    rows: {
      "enqueued (committed)": rows.enqueued,
      delivered: rows.delivered,
      "resolved as delivered by the operator": rows.resolvedAsDelivered,
      "superseded by a later row": rows.superseded,
      "skipped by the operator": rows.skippedByOperator,
      "dead, refused by the receiver": rows.dead,
      lost: rows.lost,
      "rolled back, never seen": rows.rolledBack,
      "in doubt": rows.inDoubt,
      "ordered keys": rows.keys,
      "left out of the question of order (died once)": rows.leftOutOfOrder,
    },
    "requests at the receiver": {
      "raw requests": requests.raw,
      "beyond the first of their row": requests.beyondFirst,
      "taken in more than once (repeats)": requests.effectiveBeyondFirst,
      "matched by an uncertain mark": requests.matchedByMark,
      "matched by a definite no": requests.matchedByDefiniteNo,
      "not matched": requests.unmatched,
      "uncertain marks in the archive": requests.uncertainMarks,
      "… of which reaps": requests.zombieMarks,
    },
    relays: {
      "claims taken back": reapedClaims,
      "rows reaped": counts.reaped,
      "late settles, without effect": counts.lateSettles,
      "settles tried again": counts.settleErrors,
      "claims that failed": counts.claimErrors,
      "wake-ups by NOTIFY": counts.notifyWakeups,
      "lanes repaired by the sweep": counts.sweptLanes,
      "most circuits open at once": pulse.maxOpenCircuits,
    },
    "step boundary": Object.fromEntries(
      relaySteps.map((step) => {
        const { hits, kills, stops } = fleet.steps[step];
        return [step, { hits, "kill -9": kills, stopped: stops }];
      }),
    ),
    faults: faults.counts,
    "what the receiver did": (await stage.receiver.stats()).byFault,
    "errors in the server's log": countErrors((await stage.postgres.log()).slice(stage.logFrom)),
    "what relays logged": Object.fromEntries(fleet.logged),
  };
}

/** Ids and numbers differ between cases, so we count by the rest of the sentence. */
function countErrors(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, severity, text] of log.matchAll(/ (ERROR|PANIC): {2}(.*)/g)) {
    const sentence = `${severity}: ${(text ?? "").replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, "…")}`;
    counts[sentence] = (counts[sentence] ?? 0) + 1;
  }
  return counts;
}

/** A boundary that was never reached proves nothing. */
function checkCoverage({ fleet, findings, settings }: Stage): void {
  if (settings.coverage === "none") return;
  for (const step of relaySteps) {
    const { hits, kills, stops } = fleet.steps[step];
    if (hits === 0) findings.add("coverage", `${step} was never reached`);
    if (settings.coverage === "every hit") continue;
    if (kills === 0) findings.add("coverage", `no relay was killed at ${step}`);
    if (stops === 0) findings.add("coverage", `no relay was stopped at ${step}`);
  }
}
