/**
 * The protocol between a run and its relay processes: the settings on the command line, instructions as lines on the
 * relay's input, events as lines on its output.
 */
import { z } from "zod";
import { relaySteps } from "../../../src/outbox/observe/steps.ts";

export const relayConfigSchema = z.object({
  name: z.string(),
  connectionString: z.string(),
  streams: z.array(z.string()),
  receiverUrl: z.string(),
  secret: z.string(),
  listen: z.boolean(),
  clockOffMs: z.number(),
  timeoutMs: z.number(),
  leaseMarginMs: z.number(),
  reapMs: z.number(),
  pollMs: z.number(),
  stopMs: z.number(),
  concurrency: z.number(),
  maxClaimRows: z.number(),
});
export type RelayConfig = z.infer<typeof relayConfigSchema>;

const step = z.enum(relaySteps);
const trapSignal = z.enum(["SIGKILL", "SIGSTOP"]);

export const instructionSchema = z.discriminatedUnion("kind", [
  /** At the n-th hit of this step from now on, send yourself this signal. */
  z.object({ kind: z.literal("trap"), step, hits: z.int().positive(), signal: trapSignal }),
  z.object({ kind: z.literal("disarm") }),
]);
export type Instruction = z.infer<typeof instructionSchema>;

const countsSchema = z.object({
  steps: z.record(z.string(), z.number()),
  lateSettles: z.number(),
  reaped: z.number(),
  sweptLanes: z.number(),
  claimErrors: z.number(),
  settleErrors: z.number(),
  notifyWakeups: z.number(),
});
export type RelayCounts = z.infer<typeof countsSchema>;

export const relayEventSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready"), relayId: z.number() }),
  /** The start failed; the process ends. */
  z.object({ kind: z.literal("failed"), code: z.string(), message: z.string() }),
  /** Sent just before the signal; before a kill it is the last message. */
  z.object({ kind: z.literal("trapped"), step, signal: trapSignal, counts: countsSchema }),
  /** No trap is set any more. Sent after `trapped` when the two crossed. */
  z.object({ kind: z.literal("disarmed") }),
  z.object({ kind: z.literal("counts"), counts: countsSchema }),
  /** The event loop was blocked for this long. */
  z.object({ kind: z.literal("stalled"), forMs: z.number() }),
  z.object({ kind: z.literal("log"), event: z.string(), text: z.string() }),
]);
export type RelayEvent = z.infer<typeof relayEventSchema>;

/** The exit code of a relay whose start failed, which happens while the database is down. */
export const startFailedCode = 3;
