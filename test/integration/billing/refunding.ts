/** Refunds in tests: those that people request, and those that the stand-in for Stripe has. */
import { rowsOf } from "../capacity/harness.ts";
import type { Money } from "./harness.ts";
import type { Thing } from "./stand-in.ts";

export interface Refunding {
  /** A refund that Stripe has and that does not carry our mark. */
  readonly refundOf: (session: Thing, amount: number, changes?: Partial<Thing>) => Thing;
  /** A member refunds the first payment of a request; null: all that is left. */
  readonly refund: (id: string, actor: string, amount?: number | null, reason?: string) => Promise<unknown>;
  /** The last refund that Stripe's stand-in made for a payment. */
  readonly madeFor: (session: Thing) => Thing;
}

export function refundingWith(m: Money): Refunding {
  const refundOf = (session: Thing, amount: number, changes: Partial<Thing> = {}): Thing =>
    m.stripe.put({
      object: "refund",
      id: m.stripe.nextId("re"),
      status: "succeeded",
      amount,
      currency: "usd",
      payment_intent: session["payment_intent"] ?? null,
      created: Math.floor(Date.now() / 1000),
      metadata: {},
      ...changes,
    });
  const refund = async (
    id: string,
    actor: string,
    amount: number | null = null,
    reason = "as promised",
  ): Promise<unknown> => {
    const [payment] = await m.payments(id);
    return rowsOf(m.superuser, "select public.refund_payment($1, $2, $3, $4)", [payment!.id, reason, amount, actor]);
  };
  const madeFor = (session: Thing): Thing =>
    [...m.stripe.things.values()].findLast(
      (thing) => thing.object === "refund" && thing["payment_intent"] === session["payment_intent"],
    )!;
  return { refundOf, refund, madeFor };
}
