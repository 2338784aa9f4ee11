/**
 * What happens to Stripe's events on their way: each arrives, is lost, or comes late, twice, or after a later one. Drawn from
 * the seed of the life that the event belongs to, and counted for each kind of event.
 */
import type { HeldEvent } from "../../../../src/sandbox/stripe/delivery.ts";
import { wasAccepted } from "../../../../src/sandbox/core/webhook-sender.ts";
import { chanceOf } from "./chances.ts";
import type { Life } from "./life.ts";

/** The event types that the product follows. */
export const eventTypes = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
  "invoice.paid",
  "invoice.payment_failed",
  "customer.subscription.updated",
  "customer.subscription.deleted",
] as const;
export type EventType = (typeof eventTypes)[number];

export const faults = ["lost", "late", "doubled", "reordered"] as const;
export type Fault = (typeof faults)[number];

/** The delivery of events for a life. */
type Way = Readonly<Record<Fault | "as made", number>>;
const ways: readonly (readonly [Way, number])[] = [
  [{ "as made": 80, lost: 5, late: 5, doubled: 5, reordered: 5 }, 3],
  [{ "as made": 50, lost: 15, late: 12, doubled: 8, reordered: 15 }, 4],
  [{ "as made": 30, lost: 50, late: 10, doubled: 5, reordered: 5 }, 2],
  [{ "as made": 10, lost: 5, late: 50, doubled: 15, reordered: 20 }, 1],
];

function fateOf({ seed, loses }: Life, type: string, ordinal: number): Fault | "as made" {
  if (loses !== undefined) return loses.some((lost) => lost === type) ? "lost" : "as made";
  const way = chanceOf(seed, "way").weighted(ways);
  const fates = (["as made", ...faults] as const).map((fate) => [fate, way[fate]] as const);
  return chanceOf(seed, "event", type, ordinal).weighted(fates);
}

interface Sending {
  readonly held: HeldEvent;
  readonly life: number;
  /** Its position among the events of its life. */
  readonly made: number;
  readonly isRepeat: boolean;
  slot: number;
  isLate: boolean;
  tries: number;
}

/** An event that waits to be overtaken waits at most this many moments. */
const longestWait = 3;
/** Stripe gives up after three days; here after this many moments. */
const maxTries = 6;

export class Fates {
  /** How often each kind of event met each fault. */
  readonly met = new Map<string, number>();
  #queue: Sending[] = [];
  readonly #made = new Map<string, number>();
  /** The newest event of a life that has arrived. */
  readonly #arrived = new Map<number, number>();
  #isCalm = false;

  /** From now on every event arrives normally, including those on their way. */
  calm(): void {
    this.#isCalm = true;
    for (const sending of this.#queue) sending.slot = 0;
  }

  isDue(slot: number): boolean {
    return this.#queue.some((sending) => sending.slot <= slot);
  }

  /** An event has happened. */
  take(held: HeldEvent, life: Life | undefined, slot: number): void {
    const { type } = held.event;
    const number = life?.number ?? -1;
    const made = this.#count(this.#made, `${number}`);
    const ordinal = this.#count(this.#made, `${number}/${type}`);
    const sending: Sending = { held, life: number, made, isRepeat: false, slot, isLate: false, tries: 0 };
    const random = chanceOf(life?.seed ?? 1, "delay", type, ordinal);
    const isAimed = life?.aim.type === type && ordinal === 1;
    const fate =
      this.#isCalm || life === undefined ? "as made" : isAimed ? life.aim.fault : fateOf(life, type, ordinal);
    if (fate === "lost") {
      this.#meets(type, "lost");
      return;
    }
    this.#queue.push(sending);
    if (fate === "late") Object.assign(sending, { slot: slot + random.between(1, 4), isLate: true });
    if (fate === "reordered") sending.slot = slot + longestWait;
    if (fate === "doubled") this.#queue.push({ ...sending, isRepeat: true, slot: slot + random.between(0, 3) });
    // An event that waited to be overtaken is overtaken by this one, and comes right after it.
    for (const [at, other] of this.#queue.entries()) {
      if (other === sending || other.life !== number || other.isLate || other.isRepeat || other.slot <= slot) continue;
      this.#queue.splice(at, 1);
      this.#queue.push(Object.assign(other, { slot: Math.max(sending.slot, slot) }));
      break;
    }
  }

  /** What kind of event is sent next. */
  nextType(slot: number): string | undefined {
    return this.#queue.find((sending) => sending.slot <= slot)?.held.event.type;
  }

  /** Sends the due events, one after the other; returns how many. */
  async send(slot: number): Promise<number> {
    const due = this.#queue.filter((sending) => sending.slot <= slot);
    this.#queue = this.#queue.filter((sending) => sending.slot > slot);
    for (const sending of due) await this.#send(sending, slot);
    return due.length;
  }

  async #send(sending: Sending, slot: number): Promise<void> {
    const { held, life, made, isRepeat, isLate } = sending;
    const { type } = held.event;
    const answer = await held.send();
    if (!wasAccepted(answer)) {
      // It is sent again, as at Stripe, whatever the answer was.
      sending.tries += 1;
      sending.slot = slot + 1;
      if (sending.tries < maxTries) this.#queue.push(sending);
    }
    const newest = this.#arrived.get(life) ?? 0;
    if (isRepeat) this.#meets(type, "doubled");
    else if (made < newest) this.#meets(type, "reordered");
    if (isLate) this.#meets(type, "late");
    this.#arrived.set(life, Math.max(newest, made));
  }

  #meets(type: string, fault: Fault): void {
    this.#count(this.met, `${type} ${fault}`);
  }

  #count(counts: Map<string, number>, name: string): number {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count;
  }
}

/** Those that have not happened yet. */
export function unmet(met: ReadonlyMap<string, number>): string[] {
  return eventTypes.flatMap((type) =>
    faults.map((fault) => `${type} ${fault}`).filter((each) => (met.get(each) ?? 0) === 0),
  );
}
