/**
 * Stripe's answers, in memory: a real relay sends the outbox's rows here. Answers have only the few fields that the rail keeps.
 *
 * Does not own: events (harness.ts sends those), nor the rail itself, which has tests of its own.
 */
import type { Json, RailMessage, RailOutcome } from "../../../src/contract/rail.ts";
import { probeRail, type ProbeRail } from "../outbox/relay/rails.ts";

export interface Payload {
  readonly operation: string;
  readonly [field: string]: Json;
}

export interface Thing {
  readonly object: string;
  readonly id: string;
  readonly [field: string]: Json;
}

/** A field that must be text. */
export function textOf(field: Json | undefined): string {
  if (typeof field !== "string") throw new Error(`Not text: ${JSON.stringify(field)}`);
  return field;
}

type Answer = (payload: Payload, message: RailMessage) => RailOutcome | undefined;

export class StandIn {
  readonly rail: ProbeRail;
  /** Objects by id, as Stripe has them now. */
  readonly things = new Map<string, Thing>();
  /** What lists of a kind answer. */
  readonly lists = new Map<string, Thing[]>();
  /** Answers in place of the usual one, by operation, each once. */
  readonly #instead = new Map<string, Answer[]>();
  #number = 0;
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.rail = probeRail({
      name: "stripe",
      capability: "lookup",
      timeoutMs: 20_000,
      send: (message) => this.#answer(message),
      lookup: () => ({ kind: "absent" }),
    });
  }

  nextId(kind: string): string {
    this.#number += 1;
    return `${kind}_${this.#prefix}${this.#number}`;
  }

  put(thing: Thing): Thing {
    this.things.set(thing.id, thing);
    return thing;
  }

  /** Overrides the answer to the next call of an operation. */
  instead(operation: string, answer: Answer): void {
    this.#instead.set(operation, [...(this.#instead.get(operation) ?? []), answer]);
  }

  /** The calls to Stripe, by operation. */
  asked(operation: string): Payload[] {
    return this.rail.sent.map(({ payload }) => payload as Payload).filter((payload) => payload.operation === operation);
  }

  #answer(message: RailMessage): RailOutcome {
    const payload = message.payload as Payload;
    const other = this.#instead.get(payload.operation)?.shift()?.(payload, message);
    if (other !== undefined) return other;
    const response = this.#usual(payload);
    return response === undefined
      ? { kind: "rejected", code: "http_404", reason: "no such object" }
      : { kind: "delivered", response };
  }

  #usual(payload: Payload): Json | undefined {
    switch (payload.operation) {
      case "checkout.create":
        return this.put(sessionOf(this.nextId("cs"), payload));
      case "checkout.expire": {
        const session = this.things.get(textOf(payload["session_id"]));
        if (session === undefined) return undefined;
        return session["status"] === "open" ? this.put({ ...session, status: "expired", url: null }) : session;
      }
      case "refund":
        return this.put({
          object: "refund",
          id: this.nextId("re"),
          status: "succeeded",
          amount: payload["amount"] ?? 0,
          currency: textOf(payload["currency"]).toLowerCase(),
          payment_intent: payload["destination"] ?? null,
          created: Math.floor(Date.now() / 1000),
          metadata: {
            headroom_refund: payload["refund_id"] ?? null,
            headroom_installation: payload["installation_id"] ?? null,
          },
        });
      case "subscription.cancel":
        return this.put({ object: "subscription", id: textOf(payload["subscription_id"]), status: "canceled" });
      case "look":
        if (payload["kind"] === "refunds") return this.#allOf("refund", "payment_intent", payload["id"]);
        if (payload["kind"] === "invoices") return this.#allOf("invoice", "subscription", payload["id"]);
        return this.things.get(textOf(payload["id"]));
      case "list":
        return { objects: this.lists.get(textOf(payload["kind"])) ?? [], cursor: null };
      default:
        return undefined;
    }
  }

  #allOf(object: string, field: string, value: Json | undefined): Json {
    const all = [...this.things.values()].filter((thing) => thing.object === object && thing[field] === value);
    return { objects: all, cursor: null };
  }
}

function sessionOf(id: string, payload: Payload): Thing {
  return {
    object: "checkout.session",
    id,
    status: "open",
    payment_status: "unpaid",
    amount_total: payload["amount"] ?? 0,
    currency: textOf(payload["currency"]).toLowerCase(),
    mode: payload["mode"] ?? null,
    url: `https://checkout.stripe.example/c/pay/${id}`,
    expires_at: payload["expires_at"] ?? null,
    created: Math.floor(Date.now() / 1000),
    customer: payload["customer"] ?? null,
    payment_intent: null,
    subscription: null,
    invoice: null,
    livemode: false,
    metadata: {
      headroom_installation: payload["installation_id"] ?? null,
      headroom_checkout: payload["checkout_id"] ?? null,
      headroom_request: payload["request_id"] ?? null,
      headroom_workspace: payload["workspace_id"] ?? null,
    },
  };
}
