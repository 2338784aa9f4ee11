/**
 * The numbers of a seeded run: how many, how often, how likely.
 */
import type { FaultInput } from "../../../src/sandbox/core/faults.ts";
import type { DeliveryInput } from "../../../src/sandbox/stripe/delivery.ts";
import type { Range } from "../kit/random.ts";
import type { RunSettings } from "../kit/run.ts";
import type { Flags } from "../kit/subject.ts";

export interface PaymentsSettings extends RunSettings {
  /** How many payments are made, if the time is long enough. */
  readonly count: number;
  readonly relays: number;
  /** Customers who are about to pay at the same time. */
  readonly inFlight: number;
  readonly killEveryMs: Range;
}

/** About as many as two busy cores handle in a minute. */
const perMinute = 300;

export function paymentsSettings(flags: Pick<Flags, "seed" | "minutes" | "count">): PaymentsSettings {
  const { seed, minutes } = flags;
  const count = flags.count ?? Math.max(20, Math.round(minutes * perMinute));
  return {
    seed,
    count,
    faultsMs: minutes * 60_000,
    restMs: 120_000 + count * 60,
    relays: 3,
    inFlight: Math.min(120, Math.max(16, Math.round(count / 6))),
    killEveryMs: [4_000, 10_000],
  };
}

const api = (method: string, kind: FaultInput["kind"], probability: number, more = {}): FaultInput => ({
  provider: "stripe",
  method,
  kind,
  probability,
  ...more,
});

/** The faults of Stripe's API. Those of one method are drawn in this order. */
export const weather: readonly FaultInput[] = [
  ...(
    [
      ["checkout.sessions.create", 1],
      ["checkout.sessions.expire", 2],
      ["refunds.create", 3],
      ["subscriptions.cancel", 3],
    ] as const
  ).flatMap(([method, times]) => [
    api(method, "error500", 0.03 * times),
    api(method, "error500AfterAccept", 0.03 * times),
    api(method, "dropBeforeAccept", 0.01 * times),
    api(method, "dropAfterAccept", 0.02 * times),
    api(method, "cutAnswer", 0.01 * times),
    api(method, "garbage", 0.005 * times),
    api(method, "late", 0.003 * times, { ms: 8_000 }),
    api(method, "rateLimit", 0.002 * times, { retryAfterSeconds: 1 }),
  ]),
  // A page that stays open longer is paid in a second tab.
  api("checkout.sessions.expire", "error500", 0.25),
  api("refunds.list", "error500", 0.1),
  api("checkout.sessions.retrieve", "error500", 0.1),
  api("checkout.sessions.list", "error500", 0.05),
  api("paymentIntents.retrieve", "error500", 0.1),
  api("subscriptions.retrieve", "error500", 0.1),
  api("invoices.list", "error500", 0.05),
];

const soon = [300, 1_000, 2_000, 4_000, 8_000, 16_000];

/** How Stripe's events arrive, with weights. Events that are held back come later in another order. */
export const deliveries: readonly (readonly [DeliveryInput, number])[] = [
  [{ withinMs: 100, repeatAfterMs: soon }, 4],
  [{ copies: 2, withinMs: 1_000, repeatAfterMs: soon }, 2],
  [{ withinMs: 3_000, repeatAfterMs: soon }, 2],
  [{ lostShare: 0.4, withinMs: 200, repeatAfterMs: soon }, 1.5],
  [{ held: true, copies: 2, repeatAfterMs: soon }, 1],
];
export const calmDelivery: DeliveryInput = { repeatAfterMs: soon };

/** What customers do when they are on Stripe's page, with weights. */
export const plans = [
  ["pays", 60],
  ["pays later", 10],
  ["two tabs", 7],
  ["card declined", 4],
  ["disputes", 3],
  ["bank inquires", 1.5],
  ["refund fails", 3],
  ["refund pends", 3],
  ["declines", 3],
  ["is cancelled", 3],
  ["is late", 3],
  ["leaves", 1.5],
] as const satisfies readonly (readonly [string, number])[];
export type Plan = (typeof plans)[number][0];

export const cards = {
  good: "4242424242424242",
  declined: "4000000000000002",
  disputes: "4000000000000259",
  "bank inquires": "4000000000001976",
  "refund fails": "4000000000005126",
  "refund pends": "4000000000007726",
} as const;
