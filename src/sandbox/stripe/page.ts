/**
 * Stripe's pages: the hosted Checkout that a customer pays on, and an overview of what was paid and refunded.
 */
import { Hono } from "hono";
import { z } from "zod";
import { html } from "hono/html";
import type { SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import { afterForm } from "../pages/form-result.ts";
import { page, seeOther, time, type Fragment, type Html } from "../pages/layout.ts";
import type { StripeUserActions } from "./user-actions.ts";
import type { Session } from "./state.ts";

const payForm = z.object({ how: z.enum(["now", "later"]) });
const actForm = z.object({ session: z.string(), what: z.enum(["succeeded", "failed", "expire"]) });
const maxShown = 100;

export function stripePages(userActions: StripeUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/stripe", () => overviewPage(userActions));
  routes.get("/stripe/checkout/:id", (context) =>
    afterForm(() => checkoutPage(userActions.session(context.req.param("id")))),
  );
  routes.post("/stripe/checkout/:id", (context) =>
    afterForm(async () => {
      const { how } = payForm.parse(await readForm(context));
      const id = context.req.param("id");
      return seeOther(how === "now" ? userActions.pay(id) : userActions.payLater(id));
    }),
  );
  routes.post("/stripe/act/session", (context) =>
    afterForm(async () => {
      const { session, what } = actForm.parse(await readForm(context));
      if (what === "expire") userActions.expire(session);
      else userActions.settle(session, what);
      return seeOther("/stripe");
    }),
  );
  routes.post("/stripe/act/resend", (context) =>
    afterForm(async () => {
      const { event } = z.object({ event: z.string() }).parse(await readForm(context));
      userActions.resend(event);
      return seeOther("/stripe");
    }),
  );
  return routes;
}

function money(amount: number, currency: string): string {
  const { maximumFractionDigits: digits = 2 } = new Intl.NumberFormat("en", {
    style: "currency",
    currency,
  }).resolvedOptions();
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(amount / 10 ** digits);
}

function checkoutPage(session: Session): Promise<Response> {
  const total = money(session.amount, session.currency);
  return page({
    title: `Pay ${total}`,
    current: "/stripe",
    mainClass: "narrow",
    body: html`<h1>Pay ${total}</h1>
      <p class="quiet">This checkout belongs to the sandbox. No card is asked for and no money moves.</p>
      <div class="paper">
        <div class="scroll">
          <table>
            <tbody>
              ${session.lines.map(
                (line) =>
                  html`<tr>
                    <th scope="row">${line.name} × ${line.quantity}</th>
                    <td class="nowrap">${money(line.quantity * line.unitAmount, session.currency)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
        ${session.clientReferenceId !== undefined && html`<p class="quiet small">Reference ${session.clientReferenceId}</p>`}
      </div>
      ${session.status === "open" ? payButtons(session, total) : ended(session)}`,
  });
}

function payButtons(session: Session, total: string): Html {
  return html`<form method="post" action="/stripe/checkout/${session.id}" class="buttons">
      <button class="primary" name="how" value="now">Pay ${total}</button>
      <button name="how" value="later">Pay by bank debit (takes days)</button>
    </form>
    <p>${session.cancelUrl !== undefined && html`<a href="${session.cancelUrl}">Go back without paying</a>`}</p>
    <p class="quiet small">Until ${time(session.expiresAt * 1000)}</p>`;
}

function ended(session: Session): Html {
  const words =
    session.status === "expired" ? "This checkout has expired. Nothing was charged." : "This checkout is complete.";
  return html`<p class="note">
    ${words} ${session.later === "processing" && "The bank is still working on the payment."}
  </p>`;
}

function overviewPage(userActions: StripeUserActions): Promise<Response> {
  const sessions = userActions.sessions().toReversed().slice(0, maxShown);
  const events = userActions.events().toReversed().slice(0, 15);
  return page({
    title: "Stripe",
    current: "/stripe",
    body: html`<h1>Checkout sessions</h1>
      <div id="sessions" data-live>
        ${sessions.length === 0 && html`<p class="empty">No session yet. Headroom does not ask for payments in this release; call Stripe’s API yourself.</p>`}
        ${sessions.map((session) => sessionHtml(session, userActions))} ${events.length > 0 && html`<h2>Events</h2>`}
        <ul class="list">
          ${events.map(
            (event) =>
              html`<li class="row">
                <span><code>${event.type}</code> <span class="quiet small">${time(event.created * 1000)}</span></span>
                <form class="tight" method="post" action="/stripe/act/resend">
                  <input type="hidden" name="event" value="${event.id}" /><button class="small">Send it again</button>
                </form>
              </li>`,
          )}
        </ul>
      </div>`,
  });
}

function sessionHtml(session: Session, userActions: StripeUserActions): Html {
  const refunded = userActions
    .refunds()
    .filter(({ paymentIntent }) => paymentIntent === session.paymentIntent)
    .reduce((sum, { amount }) => sum + amount, 0);
  return html`<article class="paper" aria-label="${session.clientReferenceId ?? session.id}">
    <h3>
      ${session.clientReferenceId ?? session.id}: ${money(session.amount, session.currency)}
      <span class="badge ${session.paymentStatus === "paid" ? "good" : session.status === "expired" ? "bad" : ""}">
        ${session.status}, ${session.paymentStatus}
      </span>
      ${refunded > 0 && html`<span class="badge bad">${money(refunded, session.currency)} refunded</span>`}
    </h3>
    <p class="quiet small">${session.id}, ${time(session.created * 1000)}</p>
    ${actions(session)}
  </article>`;
}

function actions(session: Session): Fragment {
  const form = (buttons: Fragment): Html =>
    html`<form class="buttons" method="post" action="/stripe/act/session">
      <input type="hidden" name="session" value="${session.id}" />${buttons}
    </form>`;
  if (session.status === "open") {
    return html`<p><a href="/stripe/checkout/${session.id}">Open the checkout</a></p>
      ${form(html`<button class="small" name="what" value="expire">Let it expire</button>`)}`;
  }
  if (session.later !== "processing") return null;
  return form(
    html`<button class="small primary" name="what" value="succeeded">Let the payment go through</button>
      <button class="small danger" name="what" value="failed">Let the payment fail</button>`,
  );
}
