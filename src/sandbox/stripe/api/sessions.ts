/**
 * Checkout sessions: made, read, listed, and ended before their time.
 */
import { z } from "zod";
import type { World } from "../../core/world.ts";
import { expire } from "../money/checkout.ts";
import { missing, StripeRefusal } from "../refusal.ts";
import { sessionShape, type Shape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Session } from "../things.ts";
import { checkAmountForm, checkCurrency, checkTotal } from "./amounts.ts";
import { listOf, window } from "./lists.ts";
import { count, ignored, metadata, parse, type Parameters } from "./parameters.ts";

const line = z.looseObject({
  quantity: count.default(1),
  price_data: z.looseObject({
    currency: z.string().regex(/^[a-z]{3}$/i),
    unit_amount: z.coerce.number().int().min(0),
    product_data: z.looseObject({ name: z.string().min(1) }),
    recurring: z.looseObject({ interval: z.enum(["day", "week", "month", "year"]) }).optional(),
  }),
});
type LineGiven = z.infer<typeof line>;

const createParameters = z.strictObject({
  mode: z.enum(["payment", "subscription"]),
  line_items: z.array(line).min(1).max(100),
  success_url: z.url(),
  cancel_url: z.url().optional(),
  client_reference_id: z.string().max(200).optional(),
  customer: z.string().optional(),
  customer_email: z.email().optional(),
  customer_creation: z.enum(["always", "if_required"]).optional(),
  metadata,
  expires_at: z.coerce.number().int().optional(),
  payment_intent_data: z.looseObject({ metadata }).optional(),
  subscription_data: z.looseObject({ metadata }).optional(),
  adaptive_pricing: ignored,
  payment_method_types: ignored,
  payment_method_options: ignored,
  allow_promotion_codes: ignored,
  automatic_tax: ignored,
  billing_address_collection: ignored,
  invoice_creation: ignored,
  locale: ignored,
  submit_type: ignored,
  expand: ignored,
});
type Wanted = z.infer<typeof createParameters>;

const shortestSeconds = 30 * 60;
const longestSeconds = 24 * 60 * 60;

export function createSession(world: World, state: StripeState, given: Parameters): Shape {
  const wanted = parse(createParameters, given);
  checkPayer(state, wanted);
  const now = state.now();
  const expiresAt = expiryOf(wanted, now);
  const currency = currencyOf(wanted.line_items);
  const isSubscription = wanted.mode === "subscription";
  const lines = wanted.line_items.map((each, at) => lineOf(each, at, currency, isSubscription));
  const amount = lines.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0);
  checkTotal(currency, amount);
  const session = state.put<Session>(state.sessions, {
    id: state.id(state.isLive ? "cs_live_" : "cs_test_"),
    livemode: state.isLive,
    mode: wanted.mode,
    lines,
    amount,
    currency,
    successUrl: wanted.success_url,
    cancelUrl: wanted.cancel_url,
    clientReferenceId: wanted.client_reference_id,
    metadata: wanted.metadata ?? {},
    passedOn: (isSubscription ? wanted.subscription_data : wanted.payment_intent_data)?.metadata ?? {},
    customer: wanted.customer,
    customerEmail: wanted.customer_email,
    createsCustomer: isSubscription || wanted.customer_creation === "always",
    created: now,
    expiresAt,
    paymentIntent: state.id("pi_"),
    subscription: isSubscription ? state.id("sub_") : undefined,
    invoice: isSubscription ? state.id("in_") : undefined,
    status: "open",
    paymentStatus: "unpaid",
    later: undefined,
  });
  return sessionShape(world, session);
}

function checkPayer(state: StripeState, wanted: Wanted): void {
  if (wanted.customer !== undefined && wanted.customer_email !== undefined) {
    const words = "You may only specify one of these parameters: customer, customer_email.";
    throw new StripeRefusal(400, words, { param: "customer_email" });
  }
  if (wanted.customer !== undefined && wanted.customer_creation !== undefined) {
    const words = "You may only specify one of these parameters: customer, customer_creation.";
    throw new StripeRefusal(400, words, { param: "customer_creation" });
  }
  if (wanted.mode === "subscription" && wanted.customer_creation !== undefined) {
    const words = "`customer_creation` can only be used in `payment` mode.";
    throw new StripeRefusal(400, words, { param: "customer_creation" });
  }
  if (wanted.mode === "subscription" && wanted.payment_intent_data !== undefined) {
    const words = "You can not pass `payment_intent_data` in `subscription` mode.";
    throw new StripeRefusal(400, words, { param: "payment_intent_data" });
  }
  if (wanted.mode === "payment" && wanted.subscription_data !== undefined) {
    const words = "You can not pass `subscription_data` in `payment` mode.";
    throw new StripeRefusal(400, words, { param: "subscription_data" });
  }
  if (wanted.customer !== undefined && state.find(state.customers, wanted.customer) === undefined)
    throw missing("customer", wanted.customer, "customer");
  checkOneCurrency(state, wanted);
}

/** Stripe keeps the subscriptions of a customer in one currency. */
function checkOneCurrency(state: StripeState, { mode, customer, line_items: lines }: Wanted): void {
  if (mode !== "subscription" || customer === undefined) return;
  const currency = currencyOf(lines);
  for (const each of state.all(state.subscriptions)) {
    if (each.customer !== customer || each.status === "canceled" || each.currency === currency) continue;
    const words = `You cannot combine currencies on a single customer. This customer has an active subscription with currency ${each.currency}.`;
    throw new StripeRefusal(400, words, {});
  }
}

function expiryOf({ expires_at: wanted }: Wanted, now: number): number {
  const expiresAt = wanted ?? now + longestSeconds;
  // Tolerates clock differences and the time that the call took.
  if (expiresAt >= now + shortestSeconds - 60 && expiresAt <= now + longestSeconds + 60) return expiresAt;
  throw new StripeRefusal(
    400,
    "The `expires_at` timestamp must be at least 30 minutes and at most 24 hours from Checkout Session creation.",
    { param: "expires_at" },
  );
}

function currencyOf(lines: readonly LineGiven[]): string {
  const [currency = "", ...others] = new Set(lines.map(({ price_data: price }) => price.currency.toLowerCase()));
  checkCurrency(currency, "line_items[0][price_data][currency]");
  if (others.length === 0) return currency;
  throw new StripeRefusal(400, "All line items must have the same currency.", { param: "line_items" });
}

function lineOf({ quantity, price_data: price }: LineGiven, at: number, currency: string, isRecurring: boolean) {
  const param = `line_items[${at}][price_data]`;
  checkAmountForm(currency, price.unit_amount, `${param}[unit_amount]`);
  if (isRecurring && price.recurring === undefined) {
    const words = "You must provide at least one recurring price in `subscription` mode when using prices.";
    throw new StripeRefusal(400, words, { param: `${param}[recurring]` });
  }
  if (!isRecurring && price.recurring !== undefined) {
    const words = "You specified `payment` mode but passed a recurring price.";
    throw new StripeRefusal(400, words, { param: `${param}[recurring]` });
  }
  return { name: price.product_data.name, quantity, unitAmount: price.unit_amount };
}

export function getSession(world: World, state: StripeState, id: string): Shape {
  return sessionShape(world, sessionOf(world, state, id));
}

export function expireSession(world: World, state: StripeState, id: string): Shape {
  const session = sessionOf(world, state, id);
  if (session.status !== "open") {
    const words = `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${session.status}\`.`;
    throw new StripeRefusal(400, words, {}, true);
  }
  expire(world, state, session);
  return sessionShape(world, session);
}

const listParameters = z.strictObject({
  ...window,
  customer: z.string().optional(),
  payment_intent: z.string().optional(),
  subscription: z.string().optional(),
  status: z.enum(["open", "complete", "expired"]).optional(),
});

export function listSessions(world: World, state: StripeState, given: Parameters): Shape {
  const { customer, payment_intent: payment, subscription, status, ...page } = parse(listParameters, given);
  const wanted = state
    .all(state.sessions)
    .filter(
      (session) =>
        (customer === undefined || session.customer === customer) &&
        (payment === undefined || (session.status === "complete" && session.paymentIntent === payment)) &&
        (subscription === undefined || session.subscription === subscription) &&
        (status === undefined || session.status === status),
    );
  return listOf(state, "/v1/checkout/sessions", wanted, page, (session) => sessionShape(world, session));
}

/** A session past its time has expired, whether or not anybody checked. */
function sessionOf(world: World, state: StripeState, id: string): Session {
  const session = state.find(state.sessions, id);
  if (session === undefined) throw missing("checkout.session", id);
  if (session.status === "open" && state.now() > session.expiresAt) expire(world, state, session);
  return session;
}
