/**
 * What each call of Stripe's API does, with Stripe's refusals.
 */
import { z } from "zod";
import type { World } from "../core/world.ts";
import type { FormValue } from "./form.ts";
import { expire } from "./payments.ts";
import { happen } from "./outgoing.ts";
import {
  chargeId,
  customerShape,
  eventShape,
  intentShape,
  listShape,
  refundShape,
  sessionShape,
  subscriptionShape,
} from "./shapes.ts";
import type { Session, StripeState } from "./state.ts";

type Shape = Record<string, unknown>;
export type Parameters = Readonly<Record<string, FormValue>>;

/** A refusal as Stripe words it. */
export class StripeRefusal extends Error {
  override readonly name = "StripeRefusal";
  readonly status: number;
  readonly fields: Shape;

  constructor(status: number, message: string, fields: Shape = {}) {
    super(message);
    this.status = status;
    this.fields = { type: "invalid_request_error", ...fields };
  }
}

const metadata = z.record(z.string().max(40), z.string().max(500)).optional();
const count = z.coerce.number().int().min(1);
const amount = z.coerce.number().int().min(0);
const line = z.looseObject({
  quantity: count.default(1),
  price_data: z.looseObject({
    currency: z.string().regex(/^[a-z]{3}$/i),
    unit_amount: amount,
    product_data: z.looseObject({ name: z.string().min(1) }),
  }),
});
const ignored = z.unknown().optional();
const sessionParameters = z.strictObject({
  mode: z.enum(["payment", "subscription"]),
  line_items: z.array(line).min(1).max(100),
  success_url: z.url(),
  cancel_url: z.url().optional(),
  client_reference_id: z.string().max(200).optional(),
  customer: z.string().optional(),
  customer_email: z.email().optional(),
  metadata,
  expires_at: z.coerce.number().int().optional(),
  payment_intent_data: z.looseObject({ metadata }).optional(),
  subscription_data: ignored,
  payment_method_types: ignored,
  payment_method_options: ignored,
  allow_promotion_codes: ignored,
  automatic_tax: ignored,
  billing_address_collection: ignored,
  customer_creation: ignored,
  invoice_creation: ignored,
  locale: ignored,
  submit_type: ignored,
  expand: ignored,
});
const refundParameters = z
  .strictObject({
    payment_intent: z.string().optional(),
    charge: z.string().optional(),
    amount: count.optional(),
    reason: z.enum(["duplicate", "fraudulent", "requested_by_customer"]).optional(),
    metadata,
    expand: ignored,
  })
  .refine((given) => given.payment_intent !== undefined || given.charge !== undefined, {
    message: "One of the following params should be provided for this request: payment_intent or charge.",
  });
const customerParameters = z.strictObject({
  email: z.email().optional(),
  name: z.string().optional(),
  metadata,
  expand: ignored,
});

const shortestSeconds = 30 * 60;
const longestSeconds = 24 * 60 * 60;

export function createSession(world: World, state: StripeState, given: Parameters): Shape {
  const wanted = parse(sessionParameters, given);
  const now = state.now();
  const expiresAt = wanted.expires_at ?? now + longestSeconds;
  // A moment's grace: the caller's clock and the way here.
  if (expiresAt < now + shortestSeconds - 60 || expiresAt > now + longestSeconds + 60) {
    throw new StripeRefusal(
      400,
      "The `expires_at` timestamp must be at least 30 minutes and at most 24 hours from Checkout Session creation.",
      { param: "expires_at" },
    );
  }
  const lines = wanted.line_items.map(({ quantity, price_data }) => ({
    name: price_data.product_data.name,
    quantity,
    unitAmount: price_data.unit_amount,
  }));
  const currencies = new Set(wanted.line_items.map(({ price_data }) => price_data.currency.toLowerCase()));
  if (currencies.size > 1)
    throw new StripeRefusal(400, "All line items must have the same currency.", { param: "line_items" });
  if (wanted.customer !== undefined && !state.customers.has(wanted.customer))
    throw missing("customer", wanted.customer);
  const session = state.put<Session>(state.sessions, {
    id: state.id("cs_test_"),
    mode: wanted.mode,
    lines,
    amount: lines.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0),
    currency: [...currencies][0] ?? "usd",
    successUrl: wanted.success_url,
    cancelUrl: wanted.cancel_url,
    clientReferenceId: wanted.client_reference_id,
    metadata: wanted.metadata ?? {},
    customer: wanted.customer,
    customerEmail: wanted.customer_email,
    created: now,
    expiresAt,
    paymentIntent: state.id("pi_"),
    subscription: wanted.mode === "subscription" ? state.id("sub_") : undefined,
    status: "open",
    paymentStatus: "unpaid",
    later: undefined,
  });
  return sessionShape(world, state, session);
}

export function getSession(world: World, state: StripeState, id: string, given: Parameters): Shape {
  return sessionShape(world, state, sessionOf(state, id), expandOf(given));
}

export function expireSession(world: World, state: StripeState, id: string): Shape {
  const session = sessionOf(state, id);
  if (session.status !== "open") {
    throw new StripeRefusal(
      400,
      `Only Checkout Sessions with a status in ["open"] can be expired. This one is ${session.status}.`,
    );
  }
  expire(world, state, session);
  return sessionShape(world, state, session);
}

export function getIntent(state: StripeState, id: string): Shape {
  const session = state.sessionOfPayment(id);
  if (session === undefined) throw missing("payment_intent", id);
  return intentShape(state, session);
}

export function createRefund(world: World, state: StripeState, given: Parameters): Shape {
  const wanted = parse(refundParameters, given);
  const id = wanted.payment_intent ?? wanted.charge?.replace(/^ch_/, "pi_") ?? "";
  const session = state.sessionOfPayment(id);
  if (session === undefined) throw missing("payment_intent", id);
  if (session.paymentStatus !== "paid") {
    throw new StripeRefusal(400, "This PaymentIntent does not have a successful charge to refund.", {
      code: "payment_intent_unexpected_state",
    });
  }
  const left = session.amount - state.refundedOf(id);
  if (left === 0) {
    throw new StripeRefusal(400, `Charge ${chargeId(id)} has already been refunded.`, {
      code: "charge_already_refunded",
    });
  }
  const refunded = wanted.amount ?? left;
  if (refunded > left) {
    throw new StripeRefusal(400, `Refund amount (${refunded}) is greater than unrefunded amount on charge (${left})`, {
      param: "amount",
    });
  }
  const refund = state.put(state.refunds, {
    id: state.id("re_"),
    paymentIntent: id,
    amount: refunded,
    currency: session.currency,
    reason: wanted.reason,
    metadata: wanted.metadata ?? {},
    created: state.now(),
  });
  happen(world, state, "refund.created", refundShape(refund));
  return refundShape(refund);
}

export function getRefund(state: StripeState, id: string): Shape {
  const refund = state.refunds.get(id);
  if (refund === undefined) throw missing("refund", id);
  return refundShape(refund);
}

export function listRefunds(state: StripeState, given: Parameters): Shape {
  const wanted = given["payment_intent"];
  const all = [...state.refunds.values()]
    .toReversed()
    .filter((each) => wanted === undefined || each.paymentIntent === wanted);
  return listShape("/v1/refunds", all.slice(0, 100).map(refundShape), all.length > 100);
}

export function createCustomer(state: StripeState, given: Parameters): Shape {
  const wanted = parse(customerParameters, given);
  const { email, name } = wanted;
  return customerShape(
    state.put(state.customers, {
      id: state.id("cus_"),
      email,
      name,
      metadata: wanted.metadata ?? {},
      created: state.now(),
    }),
  );
}

export function getCustomer(state: StripeState, id: string): Shape {
  const customer = state.customers.get(id);
  if (customer === undefined) throw missing("customer", id);
  return customerShape(customer);
}

export function getSubscription(state: StripeState, id: string): Shape {
  return subscriptionShape(state, subscribed(state, id));
}

export function cancelSubscription(world: World, state: StripeState, id: string): Shape {
  const session = subscribed(state, id);
  if (state.cancelledSubscriptions.has(id)) throw missing("subscription", id);
  state.cancelledSubscriptions.add(id);
  const shape = subscriptionShape(state, session);
  happen(world, state, "customer.subscription.deleted", shape);
  return shape;
}

export function listEvents(state: StripeState, given: Parameters): Shape {
  const { type, limit } = given;
  const most = Math.min(Math.max(Number(typeof limit === "string" ? limit : 10) || 10, 1), 100);
  const all = state.events.toReversed().filter((event) => type === undefined || event.type === type);
  return listShape("/v1/events", all.slice(0, most).map(eventShape), all.length > most);
}

export function getEvent(state: StripeState, id: string): Shape {
  const event = state.events.find((each) => each.id === id);
  if (event === undefined) throw missing("event", id);
  return eventShape(event);
}

function subscribed(state: StripeState, id: string): Session {
  for (const session of state.sessions.values()) {
    if (session.subscription === id && session.status === "complete") return session;
  }
  throw missing("subscription", id);
}

function sessionOf(state: StripeState, id: string): Session {
  const session = state.sessions.get(id);
  if (session === undefined) throw missing("checkout session", id);
  return session;
}

function expandOf(given: Parameters): readonly string[] {
  const { expand } = given;
  return Array.isArray(expand) ? expand.filter((each) => typeof each === "string") : [];
}

function parse<Schema extends z.ZodType>(schema: Schema, given: Parameters): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const param = issue.keys[0] ?? "";
    throw new StripeRefusal(400, `Received unknown parameter: ${param}`, { code: "parameter_unknown", param });
  }
  const [first, ...rest] = (issue?.path ?? []).map(String);
  const param = `${first ?? ""}${rest.map((part) => `[${part}]`).join("")}`;
  if (first !== undefined && rest.length === 0 && given[first] === undefined) {
    throw new StripeRefusal(400, `Missing required param: ${param}.`, { code: "parameter_missing", param });
  }
  throw new StripeRefusal(
    400,
    `${param === "" ? "" : `Invalid ${param}: `}${issue?.message ?? "not valid"}`,
    param === "" ? {} : { param },
  );
}

function missing(what: string, id: string): StripeRefusal {
  return new StripeRefusal(404, `No such ${what}: '${id}'`, { code: "resource_missing", param: "id" });
}
