/**
 * The addresses of Stripe's pages, and what their forms do.
 */
import { Hono } from "hono";
import { z } from "zod";
import type { SandboxEnv } from "../../core/exchange.ts";
import { readForm } from "../../core/form.ts";
import { afterForm } from "../../pages/form-result.ts";
import { seeOther } from "../../pages/layout.ts";
import { releaseOrders, type DeliveryInput } from "../delivery.ts";
import { goodCard } from "../money/cards.ts";
import type { StripeUserActions } from "../user-actions.ts";
import { checkoutPage } from "./checkout.ts";
import { overviewPage } from "./overview.ts";

const payForm = z.object({ how: z.enum(["now", "later"]), card: z.string().max(100).default(goodCard) });

type Act = (userActions: StripeUserActions, id: string) => void;

const acts = {
  "session.expire": (stripe, id) => stripe.expire(id),
  "session.succeeded": (stripe, id) => stripe.settle(id, "succeeded"),
  "session.failed": (stripe, id) => stripe.settle(id, "failed"),
  "payment.refund": (stripe, id) => stripe.refundOutside(id),
  "payment.refund_half": (stripe, id) => stripe.refundOutside(id, halfOf(stripe.payment(id).amount)),
  "payment.dispute": (stripe, id) => stripe.dispute(id, { reason: "fraudulent" }),
  "payment.inquire": (stripe, id) => stripe.dispute(id, { isInquiry: true }),
  "refund.succeeded": (stripe, id) => stripe.settleRefund(id, "succeeded"),
  "refund.failed": (stripe, id) => stripe.settleRefund(id, "failed"),
  "dispute.advance": (stripe, id) => stripe.advanceDispute(id),
  "dispute.won": (stripe, id) => stripe.closeDispute(id, "won"),
  "dispute.lost": (stripe, id) => stripe.closeDispute(id, "lost"),
  "subscription.renew": (stripe, id) => void stripe.renew(id, "succeeded"),
  "subscription.renew_failing": (stripe, id) => void stripe.renew(id, "failed"),
  "subscription.end_later": (stripe, id) => stripe.cancelAtPeriodEnd(id),
  "subscription.end": (stripe, id) => stripe.cancelOutside(id),
  "subscription.unpaid": (stripe, id) => stripe.leaveUnpaid(id),
  "invoice.pay": (stripe, id) => stripe.payAgain(id, "succeeded"),
  "event.resend": (stripe, id) => stripe.resend(id),
} as const satisfies Record<string, Act>;

/** Rounds the half down to 100, 10 or 1 minor units, as the amount itself is, so that it is valid in every currency. */
function halfOf(amount: number): number {
  const step = amount % 100 === 0 ? 100 : amount % 10 === 0 ? 10 : 1;
  return Math.max(step, Math.floor(amount / 2 / step) * step);
}

const actForm = z.object({ id: z.string().min(1).max(255), what: keyIn(acts) });

const lateMs = 20_000;
const plans = {
  once: {},
  twice: { copies: 2 },
  late: { withinMs: lateMs },
  mixed: { copies: 2, withinMs: lateMs },
  held: { held: true },
  never: { lostShare: 1 },
} as const satisfies Record<string, DeliveryInput>;

function keyIn<Table extends object>(table: Table): z.ZodType<keyof Table> {
  return z.custom<keyof Table>((value) => typeof value === "string" && Object.hasOwn(table, value), {
    error: "unknown",
  });
}

export function stripePages(userActions: StripeUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/stripe", () => overviewPage(userActions));
  routes.get("/stripe/checkout/:id", (context) =>
    afterForm(() => checkoutPage(userActions.session(context.req.param("id")), context.req.query("declined"))),
  );
  routes.post("/stripe/checkout/:id", (context) =>
    afterForm(async () => {
      const { how, card } = payForm.parse(await readForm(context));
      const id = context.req.param("id");
      if (how === "later") return seeOther(userActions.payLater(id));
      const paid = userActions.tryToPay(id, card);
      if (paid.kind === "complete") return seeOther(paid.sendTo);
      // A separate page, so that neither reload nor back sends the card again.
      return seeOther(`/stripe/checkout/${encodeURIComponent(id)}?declined=${paid.code}`);
    }),
  );
  routes.post("/stripe/act", (context) =>
    afterForm(async () => {
      const { id, what } = actForm.parse(await readForm(context));
      acts[what](userActions, id);
      return seeOther("/stripe");
    }),
  );
  routes.post("/stripe/act/deliver", (context) =>
    afterForm(async () => {
      const { how } = z.object({ how: keyIn(plans) }).parse(await readForm(context));
      userActions.deliver(plans[how]);
      return seeOther("/stripe");
    }),
  );
  routes.post("/stripe/act/release", (context) =>
    afterForm(async () => {
      const { order } = z.object({ order: z.enum(releaseOrders) }).parse(await readForm(context));
      await userActions.release(order);
      return seeOther("/stripe");
    }),
  );
  return routes;
}
