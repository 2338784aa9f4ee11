/** Reading the state of one object. It changes nothing, and may be repeated at will. */
import type { Stripe } from "stripe";
import type { RailOutcome } from "../../contract/rail.ts";
import type { StripeCall } from "./call.ts";
import { findSession } from "./create-checkout.ts";
import type { Look } from "./message.ts";
import { deliveredAs, outcomeOf, unreadable } from "./outcomes.ts";
import { compactOf, compactPage, type CompactKind } from "./shapes.ts";

/** Far more than one payment has refunds; of a subscription's invoices these are four years'. */
const maxOfOne = 50;

type ListKind = "refunds" | "invoices";

const asked: Readonly<
  Record<Exclude<Look["kind"], ListKind | "checkout">, (stripe: Stripe, id: string) => Promise<unknown>>
> = {
  // A session that began a subscription names its payment only by its invoice's payments.
  session: (stripe, id) => stripe.checkout.sessions.retrieve(id, { expand: ["invoice.payments", "payment_intent"] }),
  payment_intent: (stripe, id) => stripe.paymentIntents.retrieve(id),
  subscription: (stripe, id) => stripe.subscriptions.retrieve(id),
  dispute: (stripe, id) => stripe.disputes.retrieve(id),
  invoice: (stripe, id) => stripe.invoices.retrieve(id, { expand: ["payments"] }),
};

const listed: Readonly<
  Record<ListKind, { readonly shape: CompactKind; readonly page: (stripe: Stripe, id: string) => Promise<unknown> }>
> = {
  refunds: {
    shape: "refund",
    page: (stripe, id) => stripe.refunds.list({ payment_intent: id, limit: maxOfOne }),
  },
  invoices: {
    shape: "invoice",
    page: (stripe, id) =>
      stripe.invoices.list({ subscription: id, status: "paid", limit: maxOfOne, expand: ["data.payments"] }),
  },
};

export async function look(call: StripeCall, { kind, id, since }: Look, signal: AbortSignal): Promise<RailOutcome> {
  if (kind === "checkout") return await lookForCheckout(call, { checkoutId: id, since: since ?? 0 }, signal);
  if (kind === "refunds" || kind === "invoices") return await lookAtAll(call, kind, id, signal);
  const shape: CompactKind = kind;
  const answer = await call((stripe) => asked[kind](stripe, id), signal);
  return answer.kind === "failure" ? outcomeOf(answer) : deliveredAs(compactOf(shape, answer.data));
}

async function lookAtAll(call: StripeCall, kind: ListKind, id: string, signal: AbortSignal): Promise<RailOutcome> {
  const { shape, page: ask } = listed[kind];
  const answer = await call((stripe) => ask(stripe, id), signal);
  if (answer.kind === "failure") return outcomeOf(answer);
  const page = compactPage(shape, answer.data);
  // The list decides whether there is one, so it must be complete.
  if (page === undefined || page.unread.length > 0) return outcomeOf(unreadable);
  return { kind: "delivered", code: "200", response: { objects: [...page.objects], cursor: page.cursor } };
}

/** The session of one of our checkouts at Stripe, or an empty list, which is an answer too. */
async function lookForCheckout(
  call: StripeCall,
  marked: Parameters<typeof findSession>[1],
  signal: AbortSignal,
): Promise<RailOutcome> {
  const found = await findSession(call, marked, signal);
  if (found.kind === "failure") return outcomeOf(found);
  if (found.kind === "found") return deliveredAs(found.object);
  if (!found.whole) return outcomeOf({ kind: "failure", code: "too_many_to_search" });
  return { kind: "delivered", code: "200", response: { objects: [], cursor: null } };
}
