/**
 * The life of a payment as a list of steps, drawn from a seed: what its customer, the bank, people in the dashboard and operators do, and
 * when. A step that is impossible, because an earlier one went differently, does nothing.
 *
 * Does not own: the acts (acts.ts), nor what happens to Stripe's events on their way (fates.ts).
 */
import type { Random } from "../../kit/random.ts";
import type { ActName } from "./acts.ts";
import { chanceOf } from "./chances.ts";
import { eventTypes, faults, type EventType, type Fault } from "./fates.ts";

export interface Step {
  /** Which of the moments of a run (moments). */
  readonly slot: number;
  readonly act: ActName;
  /** Between 0 and 1: an amount, or a choice of several. */
  readonly by: number;
}

export interface Life {
  readonly number: number;
  readonly seed: number;
  readonly size: string;
  /** The event of Stripe's that certainly meets this fault, if it happens. */
  readonly aim: { readonly type: EventType; readonly fault: Fault };
  /** Kinds of events of which none arrives. */
  readonly loses?: readonly EventType[];
  readonly steps: readonly Step[];
}

/** The subject of a life; everything else is random. */
export interface Focus {
  readonly monthly?: boolean;
  readonly pay?: ActName;
  /** The outcome of the request. Default: the capacity is set up. Null: nothing does. */
  readonly end?: ActName | null;
  readonly story: Story;
  readonly loses?: readonly EventType[];
  /** When it begins. Default: random. */
  readonly from?: number;
}

const hour = 3_600;
const day = 24 * hour;

/** When things happen, in seconds from the beginning of a run: densely at first, and then for three months. */
export const moments: readonly number[] = [
  0,
  hour,
  3 * hour,
  8 * hour,
  20 * hour,
  ...Array.from({ length: 8 }, (_, at) => (at + 2) * day),
  ...Array.from({ length: 16 }, (_, at) => (at + 3) * 4 * day),
];
const lastSlot = moments.length - 1;

type Draft = { slot: number; act: ActName }[];

/** The acts that cause an event of the type. */
const themes: Readonly<Record<EventType, { monthly?: boolean; pay?: ActName; story: readonly ActName[] }>> = {
  "checkout.session.completed": { story: [] },
  "checkout.session.async_payment_succeeded": { pay: "the customer pays by debit", story: ["the debit arrives"] },
  "checkout.session.async_payment_failed": { pay: "the customer pays by debit", story: ["the debit fails"] },
  "checkout.session.expired": { pay: "the page runs out", story: ["the customer goes to pay", "the customer pays"] },
  "refund.created": { story: ["an operator refunds"] },
  "refund.updated": {
    pay: "the customer pays, and refunds take days",
    story: ["an operator refunds", "the bank settles a refund"],
  },
  "refund.failed": { story: ["an operator refunds", "the bank returns a refund"] },
  "charge.dispute.created": { story: ["the customer disputes"] },
  "charge.dispute.updated": { story: ["the customer disputes", "a dispute goes on"] },
  "charge.dispute.closed": { story: ["the customer disputes", "a dispute is lost"] },
  "charge.dispute.funds_withdrawn": { story: ["the bank inquires", "a dispute goes on"] },
  "charge.dispute.funds_reinstated": { story: ["the customer disputes", "a dispute is won"] },
  "invoice.paid": { monthly: true, story: [] },
  "invoice.payment_failed": { monthly: true, story: [] },
  "customer.subscription.updated": { monthly: true, story: ["it is to end with the month"] },
  "customer.subscription.deleted": { monthly: true, story: ["it is ended in the dashboard"] },
};

const pays = [
  ["the customer pays", 10],
  ["the customer pays, and refunds take days", 3],
  ["the customer pays by debit", 3],
  ["the customer pays, and it is disputed", 1],
  ["the customer pays, and the bank inquires", 0.7],
  ["the page runs out", 1],
  ["the amount is changed, and the customer pays", 0.6],
] as const satisfies readonly (readonly [ActName, number])[];

const ends = [
  ["the capacity is set up", 6],
  ["setting it up fails", 2.5],
  ["the request is cancelled", 1.5],
  [undefined, 0.5],
] as const satisfies readonly (readonly [ActName | undefined, number])[];

const later = [
  ["an operator refunds a part", 4],
  ["an operator refunds", 2],
  ["somebody refunds a part in the dashboard", 2],
  ["somebody refunds in the dashboard", 1],
  ["the bank settles a refund", 3],
  ["the bank returns a refund", 3],
  ["a refund is cancelled in the dashboard", 2],
  ["the customer disputes", 1.5],
  ["the bank inquires", 1],
  ["a dispute goes on", 1.5],
  ["a dispute is won", 1.5],
  ["a dispute is lost", 1.5],
  ["the customer is erased", 0.7],
  ["the customer goes to pay", 1],
  ["the customer pays", 1],
  ["Stripe hangs up", 1.5],
  ["Stripe fails", 1.5],
  ["the offer is over", 0.4],
] as const satisfies readonly (readonly [ActName, number])[];

const monthlyLater = [
  ["the next renewal fails", 3],
  ["the bill is paid", 3],
  ["the bill is paid much later", 1.5],
  ["the bill is voided", 0.7],
  ["the bill is given up", 0.7],
  ["Stripe gives up on the bills", 0.7],
  ["an operator ends it", 2],
  ["it is ended in the dashboard", 1.5],
  ["it is to end with the month", 1.5],
  ["it is to go on", 0.7],
  ["setting it up fails", 1.5],
  ["the capacity is set up", 0.7],
] as const satisfies readonly (readonly [ActName, number])[];

/** Each event meets each fault within this many consecutive lives. */
export const aims = eventTypes.flatMap((type) => faults.map((fault) => ({ type, fault })));

/** Acts that follow each other, immediately or over days. After `month` the next one has been charged. */
export type Story = readonly (ActName | "a month")[];
const stories: readonly Story[] = [
  [
    "an operator refunds a part",
    "the bank settles a refund",
    "an operator refunds a part",
    "the bank returns a refund",
  ],
  ["an operator refunds", "a refund is cancelled in the dashboard"],
  [
    "an operator refunds a part",
    "the bank settles a refund",
    "an operator refunds",
    "a refund is cancelled in the dashboard",
  ],
  ["somebody refunds a part in the dashboard", "the bank returns a refund", "an operator refunds"],
  ["the customer disputes", "the request is cancelled", "a dispute is won"],
  ["the customer disputes", "setting it up fails", "somebody refunds a part in the dashboard", "a dispute is won"],
  ["an operator refunds a part", "the customer disputes", "a dispute is lost", "the bank settles a refund"],
  ["setting it up fails", "the bank returns a refund", "the bank returns a refund"],
  ["setting it up fails", "a refund is cancelled in the dashboard"],
  ["the request is cancelled", "Stripe hangs up", "the bank settles a refund"],
  ["the customer is erased", "an operator refunds a part"],
];
const monthlyStories: readonly Story[] = [
  ["a month", "an operator ends it"],
  ["the capacity is set up", "a month", "an operator ends it", "a month"],
  ["a month", "it is ended in the dashboard", "setting it up fails"],
  ["a month", "setting it up fails"],
  ["the next renewal fails", "a month", "the bill is paid"],
  ["the next renewal fails", "a month", "Stripe gives up on the bills", "the bill is paid"],
  ["the next renewal fails", "a month", "it is ended in the dashboard", "the bill is paid"],
  ["the next renewal fails", "a month", "the bill is voided"],
  ["the capacity is set up", "it is to end with the month", "a month"],
  ["it is to end with the month", "it is to go on", "a month"],
  ["a month", "an operator refunds", "a month", "the bank returns a refund"],
  ["a month", "the customer disputes", "it is ended in the dashboard"],
];

export function lifeOf(runSeed: number, number: number): Life {
  const random = chanceOf(runSeed, "life", number);
  // In an order in which neighbours differ.
  const aim = aims[(number * 27) % aims.length] ?? { type: "refund.created", fault: "lost" };
  const theme = themes[aim.type];
  const isMonthly = theme.monthly ?? random.chance(0.4);
  const size = isMonthly
    ? "MONTHLY"
    : random.weighted([
        ["32XL", 6],
        ["EURO", 2],
        ["YEN", 1],
        ["DINAR", 1],
      ] as const);
  const draft: Draft = [];
  const slot = begin(draft, random, theme.pay, isMonthly);
  const isThemed = random.chance(0.75);
  const isStory = random.chance(0.5);
  if (aim.type === "invoice.payment_failed") draft.push({ slot, act: "the next renewal fails" });
  if (isThemed) follow(draft, random, slot, theme.monthly === true ? ["a month", ...theme.story] : theme.story);
  if (isStory) follow(draft, random, slot, random.pick(isMonthly && random.chance(0.7) ? monthlyStories : stories));
  const acts = isMonthly ? [...later, ...monthlyLater] : later;
  let at = slot;
  for (let left = random.between(isThemed || isStory ? 0 : 3, isThemed || isStory ? 4 : 9); left > 0; left -= 1) {
    // Acts shortly after another one cause the surprises.
    at = random.chance(0.5) ? Math.min(lastSlot, at + random.between(0, 2)) : random.between(slot, lastSlot);
    draft.push({ slot: at, act: random.weighted<ActName>(acts) });
  }
  const steps = draft.toSorted((a, b) => a.slot - b.slot).map((step) => ({ ...step, by: random.next() }));
  return { number, seed: random.between(1, 2 ** 31), size, aim, steps };
}

/** A life that plays only its subject, without haste and without other faults. */
export function focusedLife(runSeed: number, number: number, focus: Focus): Life {
  const random = chanceOf(runSeed, "focused", number);
  const from = focus.from ?? random.between(0, 2);
  const draft: Draft = [
    { slot: from, act: "the customer goes to pay" },
    { slot: from + 1, act: focus.pay ?? "the customer pays" },
  ];
  if (focus.end !== null) draft.push({ slot: from + 2, act: focus.end ?? "the capacity is set up" });
  follow(draft, random, from + 2, focus.story);
  const steps = draft.toSorted((a, b) => a.slot - b.slot).map((step) => ({ ...step, by: random.next() }));
  const size = focus.monthly === true ? "MONTHLY" : random.pick(["32XL", "EURO", "YEN", "DINAR"]);
  const aim = { type: "checkout.session.expired", fault: "late" } as const;
  return { number, seed: random.between(1, 2 ** 31), size, aim, steps, loses: focus.loses ?? [] };
}

/** From the offer to the outcome of the request; returns when it was paid. */
function begin(draft: Draft, random: Random, pay: ActName | undefined, isMonthly: boolean): number {
  let slot = random.between(0, 3);
  const soon = (): number =>
    (slot = Math.min(
      lastSlot,
      slot +
        random.weighted([
          [0, 3],
          [1, 3],
          [2, 1],
        ] as const),
    ));
  draft.push({ slot, act: "the customer goes to pay" });
  if (random.chance(0.1)) draft.push({ slot: soon(), act: "the customer goes to pay in another tab" });
  if (random.chance(0.05)) draft.push({ slot, act: "Stripe fails" });
  const how = pay ?? random.weighted<ActName>(isMonthly ? pays.slice(0, -1) : pays);
  draft.push({ slot: soon(), act: how });
  if (random.chance(0.08)) draft.push({ slot, act: "the customer pays on the first page" });
  if (how === "the customer pays by debit")
    draft.push({
      slot: soon() + random.between(0, 3),
      act: random.chance(0.75) ? "the debit arrives" : "the debit fails",
    });
  if (how === "the page runs out" && random.chance(0.8)) {
    draft.push({ slot: soon(), act: "the customer goes to pay" }, { slot: soon(), act: "the customer pays" });
  }
  if (random.chance(0.04)) draft.push({ slot, act: "the customer declines" });
  if (random.chance(0.04)) draft.push({ slot, act: "the offer is over" });
  const end = isMonthly && random.chance(0.25) ? undefined : random.weighted<ActName | undefined>(ends);
  if (end !== undefined) draft.push({ slot: Math.min(lastSlot, soon() + random.between(0, 4)), act: end });
  return slot;
}

function follow(draft: Draft, random: Random, from: number, story: Story): void {
  let slot = from;
  for (const act of story) {
    if (act === "a month") {
      slot = Math.min(lastSlot, slotOf((moments[slot] ?? 0) + 31 * day));
      continue;
    }
    slot = Math.min(
      lastSlot,
      slot +
        random.weighted([
          [0, 4],
          [1, 4],
          [2, 1],
          [4, 1],
        ] as const),
    );
    draft.push({ slot, act });
  }
}

function slotOf(seconds: number): number {
  const at = moments.findIndex((moment) => moment >= seconds);
  return at < 0 ? lastSlot : at;
}

export function wordsOf({ slot, act }: Step): string {
  const seconds = moments[slot] ?? 0;
  return `${seconds >= day ? `day ${Math.floor(seconds / day)}` : `hour ${seconds / hour}`}: ${act}`;
}
