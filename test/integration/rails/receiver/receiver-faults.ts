/**
 * How the fault-injecting receiver decides what to do with a request.
 *
 * Owns: the faults and their precedence: a script for one webhook-id, then the common script, then chance by seed, then the default. Chance
 * depends on the seed, the webhook-id and how often it came, and not on the order of arrival, so that a run can be repeated.
 */
import { createHash } from "node:crypto";
import { z } from "zod";

const headers = z.record(z.string(), z.string());
/** Whether the effect takes place; each kind has its own default. */
const effect = z.boolean().optional();

export const faultSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ok"), body: z.json().optional(), effect }),
  z.object({
    kind: z.literal("status"),
    status: z.int(),
    headers: headers.optional(),
    body: z.string().optional(),
    effect,
  }),
  /** 429 with Retry-After: seconds, or a date as text. */
  z.object({ kind: z.literal("throttle"), retryAfter: z.union([z.number(), z.string()]), effect }),
  /** Receives the request and never answers. */
  z.object({ kind: z.literal("hang"), effect }),
  /** Hangs up without reading the body. */
  z.object({ kind: z.literal("close") }),
  /** Receives the request, then resets the connection. */
  z.object({ kind: z.literal("drop"), effect }),
  /** Answers 200 and hangs up in the middle of the body. */
  z.object({ kind: z.literal("mid-body"), effect }),
  /** Answers correctly after a while, or when it is released. */
  z.object({ kind: z.literal("late"), afterMs: z.number().nonnegative().optional(), effect }),
  /** Answers with bytes that are not HTTP. */
  z.object({ kind: z.literal("garbage"), effect }),
  /** Refuses and repeats the request's headers and body. */
  z.object({ kind: z.literal("echo"), status: z.int(), effect }),
  /** Answers correctly with a body that never ends. */
  z.object({ kind: z.literal("endless"), effect }),
]);

export type Fault = z.infer<typeof faultSchema>;
export type FaultKind = Fault["kind"];

/** The probability of each fault, between 0 and 1; the rest is `ok`. */
export const chanceSchema = z.object({
  seed: z.int(),
  faults: z.array(z.object({ fault: faultSchema, probability: z.number().min(0).max(1) })),
  /** After that many faults an id is answered correctly, so that a run can end. Default: 3. */
  maxPerId: z.int().nonnegative().default(3),
});

export const faultPlanSchema = z.object({
  /** For the next requests, from any sender. */
  queue: z.array(faultSchema).default([]),
  /** For the requests with one webhook-id, in turn. */
  byId: z.record(z.string(), z.array(faultSchema)).default({}),
  chance: chanceSchema.nullable().default(null),
  /** For requests whose path begins with this and that no script covers: a receiver that is slow but not faulty. */
  slow: z.object({ pathStart: z.string(), afterMs: z.number() }).nullable().default(null),
  default: faultSchema.default({ kind: "ok" }),
});

export type FaultPlan = z.input<typeof faultPlanSchema>;

const effectByDefault: Readonly<Record<FaultKind, boolean>> = {
  ok: true,
  status: false,
  throttle: false,
  hang: true,
  close: false,
  drop: true,
  "mid-body": true,
  late: true,
  garbage: true,
  echo: false,
  endless: true,
};

export function hasEffect(fault: Fault): boolean {
  if (fault.kind === "close") return false;
  if (fault.kind === "status" && fault.status >= 200 && fault.status <= 299) return fault.effect ?? true;
  return fault.effect ?? effectByDefault[fault.kind];
}

export interface FaultScript {
  /** Replaces the plan. */
  set(plan: FaultPlan): void;
  /** Adds to the common script. */
  push(...faults: Fault[]): void;
  /** Decides about a request; called once for each. */
  next(webhookId: string, path?: string): Fault;
}

export function createFaultScript(initial: FaultPlan = {}): FaultScript {
  let plan = faultPlanSchema.parse(initial);
  let arrivals = new Map<string, { times: number; faults: number }>();
  return {
    set(next) {
      plan = faultPlanSchema.parse(next);
      arrivals = new Map();
    },
    push(...faults) {
      plan.queue.push(...faults);
    },
    next(webhookId, path = "") {
      const slow = plan.slow !== null && path.startsWith(plan.slow.pathStart);
      const usual: Fault = slow ? { kind: "late", afterMs: plan.slow?.afterMs } : plan.default;
      const own = Object.hasOwn(plan.byId, webhookId) ? plan.byId[webhookId]?.shift() : undefined;
      const scripted = own ?? plan.queue.shift();
      if (scripted !== undefined) return scripted;
      if (plan.chance === null) return usual;
      const seen = arrivals.get(webhookId) ?? { times: 0, faults: 0 };
      arrivals.set(webhookId, seen);
      seen.times += 1;
      if (seen.faults >= plan.chance.maxPerId) return usual;
      const drawn = draw(plan.chance, webhookId, seen.times);
      if (drawn === undefined) return usual;
      seen.faults += 1;
      return drawn;
    },
  };
}

function draw(chance: z.infer<typeof chanceSchema>, webhookId: string, times: number): Fault | undefined {
  const digest = createHash("sha256").update(`${chance.seed}\n${webhookId}\n${times}`).digest();
  let point = digest.readUInt32BE(0) / 2 ** 32;
  for (const { fault, probability } of chance.faults) {
    if (point < probability) return fault;
    point -= probability;
  }
  return undefined;
}
