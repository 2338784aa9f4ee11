/**
 * One relay process of a chaos run: the real relay with the real webhook rail, and able to kill or stop itself exactly
 * between two steps.
 *
 *     node relay-child.ts '<config as JSON>'
 *
 * Each request's path names the claim and the archive line under which it is sent, so that the oracle can match every raw
 * request with the line that explains it. Shuts down cleanly on SIGTERM, and exits immediately when its input ends.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { toHeadroomError } from "../../../src/db/errors.ts";
import { Message } from "../../../src/outbox/claim/message.ts";
import { relaySteps, type RelayStep } from "../../../src/outbox/observe/steps.ts";
import type { RelayLogEntry } from "../../../src/outbox/observe/log.ts";
import { createRelay } from "../../../src/outbox/relay/relay.ts";
import type { RailMessage } from "../../../src/contract/rail.ts";
import { createWebhookRail } from "../../../src/rails/webhook/rail.ts";
import { slowDestination } from "./streams.ts";
import {
  instructionSchema,
  relayConfigSchema,
  startFailedCode,
  type Instruction,
  type RelayCounts,
  type RelayEvent,
} from "./relay-protocol.ts";

const countEveryMs = 250;
const stallMs = 250;

const config = relayConfigSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
shiftClock(config.clockOffMs);
const hits = new Map<RelayStep, number>(relaySteps.map((step) => [step, 0]));
let trap: Extract<Instruction, { kind: "trap" }> | undefined;
let untilTrapped = 0;

/** Written before the next instruction of this process runs: a killed process has reported everything up to then. */
function say(event: RelayEvent): void {
  writeSync(1, `${JSON.stringify(event)}\n`);
}

function pathOf(message: RailMessage): string {
  if (!(message instanceof Message)) throw new Error("the relay hands rails a message of another kind");
  const way = message.destination === slowDestination ? "/slow" : "";
  return `${way}/${message.row.claim_id}/${message.row.attempt_no}`;
}

const rail = createWebhookRail({
  endpoint: (message) => Promise.resolve({ url: config.receiverUrl + pathOf(message), secrets: [config.secret] }),
  timeoutMs: config.timeoutMs,
  allowHttp: true,
  allowPrivate: ["127.0.0.1/32"],
});

const relay = createRelay({
  connectionString: config.connectionString,
  name: config.name,
  rails: [rail],
  streams: config.streams,
  listen: config.listen,
  leaseMarginMs: config.leaseMarginMs,
  reapMs: config.reapMs,
  pollMs: config.pollMs,
  stopMs: config.stopMs,
  concurrency: config.concurrency,
  maxClaimRows: config.maxClaimRows,
  onStep: reach,
  log,
});

function reach(step: RelayStep): void {
  hits.set(step, (hits.get(step) ?? 0) + 1);
  if (trap?.step !== step) return;
  untilTrapped -= 1;
  if (untilTrapped > 0) return;
  const { signal } = trap;
  trap = undefined;
  say({ kind: "trapped", step, signal, counts: counts() });
  process.kill(process.pid, signal);
}

/** Relays log codes and counts, never payloads; lines that are useful in a report are passed on. */
function log(entry: RelayLogEntry): void {
  if (entry.event === "relay_started") say({ kind: "ready", relayId: Number(entry["relayId"]) });
  else if (entry.level !== "debug") say({ kind: "log", event: entry.event, text: JSON.stringify(entry) });
}

function counts(): RelayCounts {
  const { lateSettles, reaperRequeues, sweptLanes, claimErrors, settleErrors, notifyWakeups } = relay.counters;
  const steps = Object.fromEntries(hits);
  return { steps, lateSettles, reaped: reaperRequeues, sweptLanes, claimErrors, settleErrors, notifyWakeups };
}

function obey(line: string): void {
  const instruction = instructionSchema.parse(JSON.parse(line));
  trap = instruction.kind === "trap" ? instruction : undefined;
  if (trap === undefined) say({ kind: "disarmed" });
  else untilTrapped = trap.hits;
}

let lastBeatMs = performance.now();
const beat = setInterval(() => {
  const nowMs = performance.now();
  const lateMs = nowMs - lastBeatMs - countEveryMs;
  lastBeatMs = nowMs;
  if (lateMs > stallMs) say({ kind: "stalled", forMs: lateMs });
  say({ kind: "counts", counts: counts() });
}, countEveryMs);

const instructions = createInterface({ input: process.stdin });
instructions.on("line", obey);
instructions.on("close", () => {
  // The starter has gone, so a clean shutdown is not needed.
  if (!stopping) process.exit(0);
});

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  await relay.stop();
  clearInterval(beat);
  say({ kind: "counts", counts: counts() });
  rail.close();
  process.stdin.destroy();
}
process.on("SIGTERM", () => void stop());

try {
  await relay.start();
} catch (error) {
  const { code, message } = toHeadroomError(error);
  say({ kind: "failed", code, message });
  process.exit(startFailedCode);
}

/** Shifts this process's wall clock. The monotonic clock stays right, as on a machine whose date was set wrong. */
function shiftClock(shiftMs: number): void {
  if (shiftMs === 0) return;
  const now = Date.now.bind(Date);
  globalThis.Date = new Proxy(Date, {
    get: (target, name, receiver): unknown =>
      name === "now" ? () => now() + shiftMs : Reflect.get(target, name, receiver),
    construct: (target, values: unknown[], newTarget): Date =>
      Reflect.construct(target, values.length === 0 ? [now() + shiftMs] : values, newTarget),
    apply: (target): string => new target(now() + shiftMs).toString(),
  });
}
