/**
 * How Stripe's events reach Headroom: immediately and once, or twice, late, out of order or never, as planned.
 *
 * Owns: the plan, what is held back, and the order of sending. Does not own: the events, or how one is signed (outgoing.ts).
 */
import { z } from "zod";
import { pause } from "../../db/wait/pause.ts";
import { seeded } from "../core/faults.ts";
import type { OutgoingWebhook, SendResult } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";
import type { StripeEvent } from "./things.ts";

/** Stripe retries for days; these are the first of its retries. */
const usualRepeatsMs = [60_000, 300_000, 3_600_000];

export const deliveryInput = z.strictObject({
  /** How often each event is sent. */
  copies: z.coerce.number().int().min(1).max(5).default(1),
  /** Each is sent after a random delay up to this, so they also overtake each other. */
  withinMs: z.coerce.number().int().min(0).max(600_000).default(0),
  /** Nothing is sent before it is released. */
  held: z.boolean().default(false),
  /** The fraction of the events that is never sent, at random. 1: all. */
  lostShare: z.coerce.number().min(0).max(1).default(0),
  /** When an event that was not acknowledged is sent again. */
  repeatAfterMs: z.array(z.int().min(0).max(86_400_000)).max(16).default(usualRepeatsMs),
  /** The seed of the random numbers. */
  seed: z.coerce.number().int().default(1),
});
export type DeliveryInput = z.input<typeof deliveryInput>;
export type DeliveryPlan = Readonly<z.output<typeof deliveryInput>>;

export const releaseOrders = ["as_made", "reversed", "shuffled"] as const;
export type ReleaseOrder = (typeof releaseOrders)[number];

/** An event that is held back, for a test to send when and as often as it likes. */
export interface HeldEvent {
  readonly event: StripeEvent;
  /** Signs it now, sends it once, and returns Headroom's answer. */
  readonly send: () => Promise<SendResult>;
}

interface Held {
  readonly event: StripeEvent;
  readonly webhook: OutgoingWebhook;
}

/** The maximum held; beyond it the oldest is lost. */
const maxHeld = 20_000;

export class EventDelivery {
  readonly #world: World;
  #plan: DeliveryPlan = deliveryInput.parse({});
  #random = seeded(this.#plan.seed);
  #held: Held[] = [];
  #underWay = new Set<Promise<unknown>>();
  #lost = 0;

  constructor(world: World) {
    this.#world = world;
  }

  get plan(): DeliveryPlan {
    return this.#plan;
  }

  /** How many events wait to be released, and how many were never sent. */
  get counts(): { readonly held: number; readonly lost: number } {
    return { held: this.#held.length, lost: this.#lost };
  }

  set(input: DeliveryInput): DeliveryPlan {
    this.#plan = deliveryInput.parse(input);
    this.#random = seeded(this.#plan.seed);
    this.#world.changed();
    return this.#plan;
  }

  reset(): void {
    this.set({});
    this.#held = [];
    this.#lost = 0;
  }

  /** An event that has just happened, to be sent as planned. */
  send(event: StripeEvent, webhook: OutgoingWebhook): void {
    if (this.#world.webhooks.headroomUrl === undefined) return;
    if (this.#random() < this.#plan.lostShare) {
      this.#lost += 1;
      return;
    }
    if (this.#plan.held) this.#hold({ event, webhook });
    else for (let copy = 0; copy < this.#plan.copies; copy += 1) this.#sendWithin(webhook, this.#plan.withinMs);
  }

  /** Sends it now, ignoring the plan. */
  sendNow(webhook: OutgoingWebhook): void {
    if (this.#world.webhooks.headroomUrl !== undefined) this.#sendWithin(webhook, 0);
  }

  /** Sends what is held back, one after the other, so that it arrives in this order. Returns how many were sent. */
  async release(order: ReleaseOrder): Promise<number> {
    const held = this.#inOrder(this.#held.splice(0), order);
    const all = held.flatMap(({ webhook }) => Array<OutgoingWebhook>(this.#plan.copies).fill(webhook));
    for (const webhook of all) {
      if (this.#world.closing.aborted) break;
      await this.#world.webhooks.send(this.#withRepeats(webhook));
    }
    this.#world.changed();
    return held.length;
  }

  /** Takes over the events that are held back, in the order they were made: the caller has to send them. */
  take(): readonly HeldEvent[] {
    const taken = this.#held.splice(0);
    if (taken.length > 0) this.#world.changed();
    return taken.map(({ event, webhook }) => ({ event, send: () => this.#world.webhooks.send(webhook) }));
  }

  /** Resolves when each event that is not held back was sent once. It does not wait for retries. */
  async done(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #hold(held: Held): void {
    this.#held.push(held);
    if (this.#held.length > maxHeld) {
      this.#held.shift();
      this.#lost += 1;
    }
    this.#world.changed();
  }

  #sendWithin(webhook: OutgoingWebhook, withinMs: number): void {
    const afterMs = Math.floor(this.#random() * withinMs);
    const work = this.#sendAfter(this.#withRepeats(webhook), afterMs)
      .catch(() => undefined)
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #sendAfter(webhook: OutgoingWebhook, afterMs: number): Promise<void> {
    if (afterMs > 0) await pause(afterMs, this.#world.closing);
    if (!this.#world.closing.aborted) await this.#world.webhooks.send(webhook);
  }

  #withRepeats(webhook: OutgoingWebhook): OutgoingWebhook {
    return { ...webhook, retryAfterMs: this.#plan.repeatAfterMs };
  }

  #inOrder(held: readonly Held[], order: ReleaseOrder): readonly Held[] {
    if (order === "reversed") return held.toReversed();
    if (order === "as_made") return held;
    return held
      .map((each) => [this.#random(), each] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, each]) => each);
  }
}
