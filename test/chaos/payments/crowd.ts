/**
 * The customers of a seeded run, each with a plan: they get offers, go to pay, and follow their plan on Stripe's page.
 *
 * Does not own: when they start, nor what banks and operators do.
 */
import { sqlStateOf } from "../../../src/db/errors.ts";
import type { Random } from "../kit/random.ts";
import { sizes } from "./directory.ts";
import { cards, plans, type Plan } from "./settings.ts";
import type { Offer, PaymentsStage } from "./stage.ts";

interface Customer extends Offer {
  readonly plan: Plan;
  /** Pages of Stripe that this customer has had. */
  readonly pages: Set<string>;
  begins: number;
  beganAtMs: number;
}

const maxBegins = 6;
/** A customer who sees no page by then tries again. */
const patienceMs = 6_000;
/** Some customers order several times, and the orders are provided one after the other. */
const requestsOfOne = 3;

export class Crowd {
  readonly #stage: PaymentsStage;
  readonly #random: Random;
  readonly #count: (what: string) => void;
  /** Customers who have not finished, by their request. */
  readonly #onTheirWay = new Map<string, Customer>();
  #offered = 0;
  #since = new Date(0);

  constructor(stage: PaymentsStage, random: Random, count: (what: string) => void) {
    this.#stage = stage;
    this.#random = random;
    this.#count = count;
  }

  get onTheirWay(): number {
    return this.#onTheirWay.size;
  }

  get offered(): number {
    return this.#offered;
  }

  /** New customers get their offers. */
  async invite(count: number): Promise<void> {
    const random = this.#random;
    const wanted = Array.from({ length: count }, (_, at) => ({
      customer: `customer-${random.chance(0.15) ? Math.floor((this.#offered + at) / requestsOfOne) : `own-${this.#offered + at}`}`,
      size: random.weighted(sizes),
      quantity: random.between(1, 4),
    }));
    const offers = await this.#stage.offer(wanted);
    this.#offered += offers.length;
    for (const offer of offers) {
      const plan = random.weighted(plans);
      this.#onTheirWay.set(offer.id, { ...offer, plan, pages: new Set(), begins: 0, beganAtMs: -patienceMs });
    }
  }

  /** Customers without a page go to pay, or try again. */
  async go(most: number): Promise<void> {
    const now = performance.now();
    const due = [...this.#onTheirWay.values()].filter(({ beganAtMs }) => now - beganAtMs >= patienceMs).slice(0, most);
    await Promise.all(due.map((customer) => this.#begin(customer)));
  }

  async #begin(customer: Customer): Promise<void> {
    customer.begins += 1;
    customer.beganAtMs = performance.now();
    if (customer.begins > maxBegins) {
      this.#leave(customer, "gave up");
      return;
    }
    try {
      if (this.#random.chance(0.1)) await this.#stage.beginByPage(customer);
      else await this.#stage.begin(customer);
    } catch (error) {
      // Gone: the offer has ended. A conflict: another request of the same customer is in progress.
      if (sqlStateOf(error) === "PT410") this.#leave(customer, "found the offer gone");
      else if (sqlStateOf(error) !== "PT409") throw error;
    }
  }

  /** Customers whose page exists follow their plan. */
  async pay(): Promise<void> {
    const pages = await this.#stage.rows<{ request_id: string; session_id: string; answered_at: Date }>(
      `select c.request_id, s.session_id, s.answered_at from billing.sessions s join billing.checkouts c on c.id = s.checkout_id
        where s.answered_at > $1 order by s.answered_at`,
      [this.#since],
    );
    // Transactions do not end in the order of their clocks.
    if (pages.length > 0) this.#since = new Date(Math.max(...pages.map(({ answered_at: at }) => at.getTime())) - 3_000);
    const fresh = pages.flatMap(({ request_id: id, session_id: session }) => {
      const customer = this.#onTheirWay.get(id);
      if (customer === undefined || customer.pages.has(session)) return [];
      customer.pages.add(session);
      return [{ customer, session }];
    });
    await Promise.all(fresh.map(({ customer, session }) => this.#onPage(customer, session)));
  }

  async #onPage(customer: Customer, session: string): Promise<void> {
    const { stripe } = this.#stage;
    const { plan } = customer;
    const pay = (card: string = cards.good): Promise<unknown> => stripe.ask("pay", session, card);
    switch (plan) {
      case "pays later":
        await stripe.ask("payLater", session);
        if (this.#random.chance(0.2)) await this.#stage.pastDeadline(customer.id);
        break;
      case "two tabs":
        if (customer.pages.size === 1) {
          await this.#stage.nearlyOver(customer.id);
          await this.#inAnyOrder(() => this.#begin(customer), pay);
          return;
        }
        await pay();
        break;
      case "card declined":
        await pay(cards.declined);
        await pay();
        break;
      case "disputes":
      case "bank inquires":
      case "refund fails":
      case "refund pends":
        await pay(cards[plan]);
        break;
      case "declines":
        await this.#inAnyOrder(() => this.#tolerantly(this.#stage.decline(customer)), pay);
        break;
      case "is cancelled":
        await this.#inAnyOrder(() => this.#tolerantly(this.#stage.cancel(customer)), pay);
        break;
      case "is late":
        await this.#inAnyOrder(() => this.#stage.pastDeadline(customer.id), pay);
        break;
      case "leaves":
        if (this.#random.chance(0.5)) await stripe.ask("expire", session);
        break;
      default:
        await pay();
    }
    this.#leave(customer, plan);
  }

  async #inAnyOrder(one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<void> {
    const [first, second] = this.#random.shuffled([one, other]);
    if (this.#random.chance(0.5)) await Promise.all([first?.(), second?.()]);
    else {
      await first?.();
      await second?.();
    }
  }

  /** A lost race is a normal answer. */
  async #tolerantly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (sqlStateOf(error)?.startsWith("PT4") !== true) throw error;
    }
  }

  #leave(customer: Customer, how: string): void {
    this.#onTheirWay.delete(customer.id);
    this.#count(`customer: ${how}`);
  }
}
