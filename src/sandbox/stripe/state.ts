/**
 * The state of the stand-in's Stripe account.
 *
 * Owns: the state, its bounds and its indexes. Does not own: the API (api/), or what happens to money (money/).
 */
import { z } from "zod";
import { listOf, type Saveable } from "../core/state-file.ts";
import type { World } from "../core/world.ts";
import { EventDelivery, type DeliveryPlan } from "./delivery.ts";
import type {
  Customer,
  Dispute,
  Invoice,
  Payment,
  Refund,
  Remembered,
  Session,
  StripeEvent,
  Subscription,
} from "./things.ts";

/** Enough for a run of ten thousand payments with their consequences. Beyond it the oldest are forgotten. */
const maxOfEach = 25_000;
const maxEvents = 100_000;

const savedSchema = z.object({
  sessions: listOf<Session>(),
  payments: listOf<Payment>(),
  refunds: listOf<Refund>(),
  disputes: listOf<Dispute>(),
  customers: listOf<Customer>(),
  subscriptions: listOf<Subscription>(),
  invoices: listOf<Invoice>(),
  events: listOf<StripeEvent>(),
  delivery: z.custom<DeliveryPlan>((value) => typeof value === "object" && value !== null),
  remembered: z.record(
    z.string(),
    z.custom<Remembered>((value) => typeof value === "object" && value !== null),
  ),
});

export class StripeState implements Saveable {
  readonly #world: World;
  readonly delivery: EventDelivery;
  sessions = new Map<string, Session>();
  payments = new Map<string, Payment>();
  refunds = new Map<string, Refund>();
  disputes = new Map<string, Dispute>();
  customers = new Map<string, Customer>();
  subscriptions = new Map<string, Subscription>();
  invoices = new Map<string, Invoice>();
  events: StripeEvent[] = [];
  remembered = new Map<string, Remembered>();
  /** New objects appear in lists only after this time. */
  listLagSeconds = 0;
  /** The mode of the call that is being answered: a key of one mode sees nothing of the other. */
  isLive = false;
  /** Keys of calls that are in progress. */
  readonly keysInUse = new Set<string>();
  #refundsOf = new Map<string, Refund[]>();
  #disputesOf = new Map<string, Dispute[]>();

  constructor(world: World) {
    this.#world = world;
    this.delivery = new EventDelivery(world);
  }

  reset(): void {
    this.load({ ...empty, delivery: this.delivery.plan });
    this.delivery.reset();
    this.keysInUse.clear();
    this.listLagSeconds = 0;
  }

  save(): z.input<typeof savedSchema> {
    return {
      sessions: [...this.sessions.values()],
      payments: [...this.payments.values()],
      refunds: [...this.refunds.values()],
      disputes: [...this.disputes.values()],
      customers: [...this.customers.values()],
      subscriptions: [...this.subscriptions.values()],
      invoices: [...this.invoices.values()],
      events: this.events,
      delivery: this.delivery.plan,
      remembered: Object.fromEntries(this.remembered),
    };
  }

  load(saved: unknown): void {
    const kept = savedSchema.parse(saved);
    this.sessions = byId(kept.sessions);
    this.payments = byId(kept.payments);
    this.refunds = byId(kept.refunds);
    this.disputes = byId(kept.disputes);
    this.customers = byId(kept.customers);
    this.subscriptions = byId(kept.subscriptions);
    this.invoices = byId(kept.invoices);
    this.events = kept.events;
    this.delivery.set(kept.delivery);
    this.remembered = new Map(Object.entries(kept.remembered));
    this.#refundsOf = byPayment(kept.refunds);
    this.#disputesOf = byPayment(kept.disputes);
  }

  /** Seconds, as Stripe counts. */
  now(): number {
    return Math.floor(this.#world.now() / 1000);
  }

  id(prefix: string): string {
    return this.#world.ids.next(prefix, 24);
  }

  /** The objects that a call may see. */
  find<Item extends { readonly livemode: boolean }>(map: ReadonlyMap<string, Item>, id: string): Item | undefined {
    const item = map.get(id);
    return item !== undefined && this.#isOfMode(item) ? item : undefined;
  }

  /** Oldest first. */
  all<Item extends { readonly livemode: boolean }>(map: ReadonlyMap<string, Item>): Item[] {
    return [...map.values()].filter((item) => this.#isOfMode(item));
  }

  /** The objects that a list shows: not the newest ones, if lists lag. */
  isListed({ created }: { readonly created: number }): boolean {
    return created <= this.now() - this.listLagSeconds;
  }

  /** Objects saved before modes existed belong to test mode. */
  #isOfMode({ livemode = false }: { readonly livemode?: boolean }): boolean {
    return livemode === this.isLive;
  }

  put<Item extends { readonly id: string }>(map: Map<string, Item>, item: Item): Item {
    map.set(item.id, item);
    dropOldest(map);
    this.#world.changed();
    return item;
  }

  putRefund(refund: Refund): Refund {
    index(this.#refundsOf, refund);
    return this.put(this.refunds, refund);
  }

  putDispute(dispute: Dispute): Dispute {
    index(this.#disputesOf, dispute);
    return this.put(this.disputes, dispute);
  }

  remember(key: string, remembered: Remembered): void {
    this.remembered.set(key, remembered);
    dropOldest(this.remembered);
  }

  record(event: StripeEvent): void {
    this.events.push(event);
    // In batches: shifting one for each event would move the whole list each time.
    if (this.events.length > maxEvents * 1.25) this.events = this.events.slice(-maxEvents);
  }

  /** Oldest first. */
  refundsOf(paymentIntent: string): readonly Refund[] {
    return this.#refundsOf.get(paymentIntent) ?? [];
  }

  disputesOf(paymentIntent: string): readonly Dispute[] {
    return this.#disputesOf.get(paymentIntent) ?? [];
  }

  /** The amount that was refunded or is on its way. */
  refundedOf(paymentIntent: string): number {
    const standing = this.refundsOf(paymentIntent).filter(({ status }) => status !== "failed" && status !== "canceled");
    return standing.reduce((sum, { amount }) => sum + amount, 0);
  }
}

const empty = {
  sessions: [],
  payments: [],
  refunds: [],
  disputes: [],
  customers: [],
  subscriptions: [],
  invoices: [],
  events: [],
  remembered: {},
};

function byId<Item extends { readonly id: string }>(items: readonly Item[]): Map<string, Item> {
  return new Map(items.map((item) => [item.id, item]));
}

function byPayment<Item extends { readonly paymentIntent: string }>(items: readonly Item[]): Map<string, Item[]> {
  const made = new Map<string, Item[]>();
  for (const item of items) index(made, item);
  return made;
}

function index<Item extends { readonly paymentIntent: string }>(into: Map<string, Item[]>, item: Item): void {
  into.set(item.paymentIntent, [...(into.get(item.paymentIntent) ?? []), item]);
  dropOldest(into);
}

function dropOldest(map: Map<string, unknown>): void {
  const oldest = map.size > maxOfEach ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
