/**
 * Subscriptions, their invoices, and the customers who have them.
 */
import { z } from "zod";
import type { World } from "../../core/world.ts";
import { cancelAtPeriodEnd, end } from "../money/subscriptions.ts";
import { missing } from "../refusal.ts";
import { customerShape, invoicePaymentShape, invoiceShape, subscriptionShape, type Shape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import type { Subscription } from "../things.ts";
import { listOf, window } from "./lists.ts";
import { ignored, metadata, parse, type Parameters } from "./parameters.ts";

export function getSubscription(state: StripeState, id: string): Shape {
  return subscriptionShape(subscriptionOf(state, id));
}

const statuses = ["active", "past_due", "unpaid", "canceled", "all"] as const;
const ofCustomer = { customer: z.string().optional() };

export function listSubscriptions(state: StripeState, given: Parameters): Shape {
  const schema = z.strictObject({ ...window, ...ofCustomer, status: z.enum(statuses).optional() });
  const { customer, status, ...page } = parse(schema, given);
  const wanted = state
    .all(state.subscriptions)
    .filter(
      (each) =>
        (customer === undefined || each.customer === customer) &&
        (status === undefined ? each.status !== "canceled" : status === "all" || each.status === status),
    );
  return listOf(state, "/v1/subscriptions", wanted, page, subscriptionShape);
}

const updateParameters = z.strictObject({
  cancel_at_period_end: z.enum(["true", "false"]).optional(),
  expand: ignored,
});

export function updateSubscription(world: World, state: StripeState, id: string, given: Parameters): Shape {
  const { cancel_at_period_end: isTo } = parse(updateParameters, given);
  const subscription = liveSubscription(state, id);
  if (isTo !== undefined) cancelAtPeriodEnd(world, state, subscription, isTo === "true");
  return subscriptionShape(subscription);
}

export function cancelSubscription(world: World, state: StripeState, id: string): Shape {
  const subscription = liveSubscription(state, id);
  end(world, state, subscription);
  return subscriptionShape(subscription);
}

function subscriptionOf(state: StripeState, id: string): Subscription {
  const subscription = state.find(state.subscriptions, id);
  if (subscription === undefined) throw missing("subscription", id);
  return subscription;
}

/** A cancelled subscription can be read; for every other call it is missing. */
function liveSubscription(state: StripeState, id: string): Subscription {
  const subscription = subscriptionOf(state, id);
  if (subscription.status === "canceled") throw missing("subscription", id);
  return subscription;
}

export function getInvoice(state: StripeState, id: string): Shape {
  const invoice = state.find(state.invoices, id);
  if (invoice === undefined) throw missing("invoice", id);
  return invoiceShape(state, invoice);
}

export function listInvoices(state: StripeState, given: Parameters): Shape {
  const filters = {
    subscription: z.string().optional(),
    status: z.enum(["draft", "open", "paid", "uncollectible", "void"]).optional(),
  };
  const { customer, subscription, status, ...page } = parse(
    z.strictObject({ ...window, ...ofCustomer, ...filters }),
    given,
  );
  const wanted = state
    .all(state.invoices)
    .filter(
      (each) =>
        (customer === undefined || each.customer === customer) &&
        (subscription === undefined || each.subscription === subscription) &&
        (status === undefined || each.status === status),
    );
  return listOf(state, "/v1/invoices", wanted, page, (invoice) => invoiceShape(state, invoice));
}

export function listInvoicePayments(state: StripeState, given: Parameters): Shape {
  const { invoice, ...page } = parse(z.strictObject({ ...window, invoice: z.string().optional() }), given);
  const wanted = state.all(state.invoices).filter(({ id }) => invoice === undefined || id === invoice);
  return listOf(state, "/v1/invoice_payments", wanted, page, invoicePaymentShape);
}

const customerParameters = z.strictObject({
  email: z.email().optional(),
  name: z.string().optional(),
  metadata,
  expand: ignored,
});

export function createCustomer(state: StripeState, given: Parameters): Shape {
  const { email, name, metadata: marks = {} } = parse(customerParameters, given);
  const customer = { id: state.id("cus_"), livemode: state.isLive, email, name, metadata: marks, created: state.now() };
  return customerShape(state.put(state.customers, customer));
}

export function getCustomer(state: StripeState, id: string): Shape {
  const customer = state.find(state.customers, id);
  if (customer === undefined) throw missing("customer", id);
  return customerShape(customer);
}

export function deleteCustomer(state: StripeState, id: string): Shape {
  if (state.find(state.customers, id) === undefined) throw missing("customer", id);
  state.customers.delete(id);
  return { id, object: "customer", deleted: true };
}
