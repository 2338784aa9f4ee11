/**
 * What customers and time do to a Checkout session. The pages and the tests do it through here.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { World } from "../core/world.ts";
import { tell } from "./outgoing.ts";
import { complete, expire, settle } from "./payments.ts";
import type { Refund, Session, StripeEvent, StripeState } from "./state.ts";

export class StripeUserActions {
  readonly #world: World;
  readonly #state: StripeState;

  constructor(world: World, state: StripeState) {
    this.#world = world;
    this.#state = state;
  }

  /** Oldest first. */
  sessions(): readonly Session[] {
    return [...this.#state.sessions.values()];
  }

  refunds(): readonly Refund[] {
    return [...this.#state.refunds.values()];
  }

  events(): readonly StripeEvent[] {
    return [...this.#state.events];
  }

  session(id: string): Session {
    const session = this.#state.sessions.get(id);
    if (session === undefined) throw refused("not_found", `There is no session ${id}.`, 404);
    return session;
  }

  /** Pays at once. Returns where the customer is sent. */
  pay(id: string): string {
    return this.#complete(id, "now");
  }

  /** Pays in a way that takes days: the session is complete and unpaid. */
  payLater(id: string): string {
    return this.#complete(id, "later");
  }

  /** What became of a payment that took days. */
  settle(id: string, how: "succeeded" | "failed"): void {
    const session = this.session(id);
    if (session.later !== "processing") throw refused("conflict", "No payment of this session is under way.", 409);
    settle(this.#world, this.#state, session, how);
  }

  expire(id: string): void {
    expire(this.#world, this.#state, this.#open(id));
  }

  /** Sends an event once more, as Stripe now and then does by itself. */
  resend(eventId: string): void {
    const event = this.#state.events.find(({ id }) => id === eventId);
    if (event === undefined) throw refused("not_found", `There is no event ${eventId}.`, 404);
    tell(this.#world, event);
  }

  #complete(id: string, when: "now" | "later"): string {
    const session = this.#open(id);
    complete(this.#world, this.#state, session, when);
    return session.successUrl.replaceAll("{CHECKOUT_SESSION_ID}", session.id);
  }

  #open(id: string): Session {
    const session = this.session(id);
    if (session.status === "open" && this.#world.now() / 1000 > session.expiresAt) {
      expire(this.#world, this.#state, session);
    }
    if (session.status !== "open") throw refused("conflict", `This session is ${session.status}.`, 409);
    return session;
  }
}

function refused(code: string, message: string, httpStatus: number): HeadroomError {
  return new HeadroomError(code, message, { hint: "Nothing was charged. Ask for a new link.", httpStatus });
}
