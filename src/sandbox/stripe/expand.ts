/**
 * Stripe's `expand`: an object that an answer refers to replaces its id.
 */
import type { World } from "../core/world.ts";
import { StripeRefusal } from "./refusal.ts";
import {
  chargeShape,
  customerShape,
  intentShape,
  invoicePaymentShape,
  invoiceShape,
  listShape,
  paymentOfCharge,
  sessionShape,
  subscriptionShape,
  type Shape,
} from "./shapes.ts";
import type { StripeState } from "./state.ts";

/** Stripe's own limit. */
const maxDepth = 4;

export function expand(world: World, state: StripeState, shape: Shape, paths: readonly string[]): Shape {
  for (const path of paths) {
    const names = path.split(".");
    if (names.length > maxDepth) throw refusal(path);
    follow(world, state, shape, names, path);
  }
  return shape;
}

function follow(world: World, state: StripeState, shape: Shape, names: readonly string[], path: string): void {
  const [name = "", ...rest] = names;
  if (shape["object"] === "list" && name === "data") {
    for (const each of shapesIn(shape["data"])) follow(world, state, each, rest, path);
    return;
  }
  if (shape["object"] === "invoice" && name === "payments") {
    const invoice = state.find(state.invoices, String(shape["id"]));
    const made = invoice === undefined ? [] : [invoicePaymentShape(invoice)];
    shape["payments"] = listShape("/v1/invoice_payments", made, false);
    return;
  }
  if (!Object.hasOwn(shape, name)) throw refusal(path);
  const value = shape[name];
  if (value === null) return;
  const whole = typeof value === "string" ? objectOf(world, state, value) : value;
  if (!isShape(whole)) throw refusal(path);
  shape[name] = whole;
  if (rest.length > 0) follow(world, state, whole, rest, path);
}

function objectOf(world: World, state: StripeState, id: string): Shape | undefined {
  switch (id.split("_")[0]) {
    case "pi":
      return found(state.find(state.payments, id), intentShape);
    case "ch":
      return found(state.find(state.payments, paymentOfCharge(id)), (payment) => chargeShape(state, payment));
    case "cus":
      return found(state.find(state.customers, id), customerShape);
    case "sub":
      return found(state.find(state.subscriptions, id), subscriptionShape);
    case "in":
      return found(state.find(state.invoices, id), (invoice) => invoiceShape(state, invoice));
    case "cs":
      return found(state.find(state.sessions, id), (session) => sessionShape(world, session));
    default:
      return undefined;
  }
}

function found<Item>(item: Item | undefined, shape: (item: Item) => Shape): Shape | undefined {
  return item === undefined ? undefined : shape(item);
}

function isShape(value: unknown): value is Shape {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shapesIn(value: unknown): Shape[] {
  return Array.isArray(value) ? value.filter(isShape) : [];
}

function refusal(path: string): StripeRefusal {
  return new StripeRefusal(400, `This property cannot be expanded (${path.slice(0, 100)}).`, { param: "expand" });
}
