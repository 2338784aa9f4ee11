/**
 * What the stand-in's Stripe account holds: Checkout sessions, payments, refunds, customers, subscriptions and events.
 *
 * Owns: the state and its bounds. Does not own: the API (api.ts, routes.ts) or what customers do (user-actions.ts).
 */
import { z } from "zod";
import { listOf, type Saveable } from "../core/state-file.ts";
import type { World } from "../core/world.ts";

export interface Session {
  readonly id: string;
  readonly mode: "payment" | "subscription";
  readonly amount: number;
  readonly currency: string;
  readonly lines: readonly { readonly name: string; readonly quantity: number; readonly unitAmount: number }[];
  readonly successUrl: string;
  readonly cancelUrl: string | undefined;
  readonly clientReferenceId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly customer: string | undefined;
  readonly customerEmail: string | undefined;
  readonly created: number;
  readonly expiresAt: number;
  readonly paymentIntent: string;
  readonly subscription: string | undefined;
  status: "open" | "complete" | "expired";
  paymentStatus: "unpaid" | "paid";
  /** Whether a payment that takes days is still under way, went through or failed. */
  later: "processing" | "succeeded" | "failed" | undefined;
}

export interface Refund {
  readonly id: string;
  readonly paymentIntent: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created: number;
}

export interface Customer {
  readonly id: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly created: number;
}

export interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly created: number;
  readonly object: Readonly<Record<string, unknown>>;
}

/** What was answered to a key, word for word, whatever it was. */
export interface Remembered {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly at: number;
}

const maxOfEach = 5_000;

const savedSchema = z.object({
  sessions: listOf<Session>(),
  refunds: listOf<Refund>(),
  customers: listOf<Customer>(),
  cancelledSubscriptions: z.array(z.string()),
  events: listOf<StripeEvent>(),
  remembered: z.record(
    z.string(),
    z.custom<Remembered>((value) => typeof value === "object" && value !== null),
  ),
});

export class StripeState implements Saveable {
  readonly #world: World;
  sessions = new Map<string, Session>();
  refunds = new Map<string, Refund>();
  customers = new Map<string, Customer>();
  cancelledSubscriptions = new Set<string>();
  events: StripeEvent[] = [];
  remembered = new Map<string, Remembered>();

  constructor(world: World) {
    this.#world = world;
  }

  reset(): void {
    this.sessions.clear();
    this.refunds.clear();
    this.customers.clear();
    this.cancelledSubscriptions.clear();
    this.events = [];
    this.remembered.clear();
  }

  save(): z.input<typeof savedSchema> {
    return {
      sessions: [...this.sessions.values()],
      refunds: [...this.refunds.values()],
      customers: [...this.customers.values()],
      cancelledSubscriptions: [...this.cancelledSubscriptions],
      events: this.events,
      remembered: Object.fromEntries(this.remembered),
    };
  }

  load(saved: unknown): void {
    const kept = savedSchema.parse(saved);
    this.sessions = new Map(kept.sessions.map((session) => [session.id, session]));
    this.refunds = new Map(kept.refunds.map((refund) => [refund.id, refund]));
    this.customers = new Map(kept.customers.map((customer) => [customer.id, customer]));
    this.cancelledSubscriptions = new Set(kept.cancelledSubscriptions);
    this.events = kept.events;
    this.remembered = new Map(Object.entries(kept.remembered));
  }

  /** Seconds, as Stripe counts. */
  now(): number {
    return Math.floor(this.#world.now() / 1000);
  }

  id(prefix: string): string {
    return this.#world.ids.next(prefix, 24);
  }

  put<Item extends { readonly id: string }>(map: Map<string, Item>, item: Item): Item {
    map.set(item.id, item);
    dropOldest(map);
    this.#world.changed();
    return item;
  }

  remember(key: string, remembered: Remembered): void {
    this.remembered.set(key, remembered);
    dropOldest(this.remembered);
  }

  record(event: StripeEvent): void {
    this.events.push(event);
    if (this.events.length > maxOfEach) this.events.shift();
  }

  sessionOfPayment(paymentIntent: string): Session | undefined {
    for (const session of this.sessions.values()) if (session.paymentIntent === paymentIntent) return session;
    return undefined;
  }

  refundedOf(paymentIntent: string): number {
    return [...this.refunds.values()]
      .filter((refund) => refund.paymentIntent === paymentIntent)
      .reduce((sum, { amount }) => sum + amount, 0);
  }
}

function dropOldest(map: Map<string, unknown>): void {
  const oldest = map.size > maxOfEach ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
