/**
 * The account: its sessions with their outcomes, its events, and how they are sent.
 */
import { html } from "hono/html";
import { page, time, type Fragment, type Html } from "../../pages/layout.ts";
import { isOpen } from "../money/dispute-status.ts";
import type { Dispute, Invoice, Payment, Refund, Session, Subscription } from "../things.ts";
import type { StripeUserActions } from "../user-actions.ts";
import { money } from "./money.ts";

const maxShown = 50;
const maxEvents = 15;

export function overviewPage(userActions: StripeUserActions): Promise<Response> {
  const sessions = userActions.sessions().slice(-maxShown).toReversed();
  return page({
    title: "Stripe",
    current: "/stripe",
    body: html`<h1>Stripe</h1>
      ${deliveryHtml(userActions)}
      <div id="sessions" data-live>
        ${booksHtml(userActions)}
        <h2>Checkout sessions</h2>
        ${sessions.length === 0 && html`<p class="empty">No session yet. Headroom makes one when a customer goes to pay for an offer that has a price.</p>`}
        ${sessions.map((session) => sessionHtml(session, userActions))} ${eventsHtml(userActions)}
      </div>`,
  });
}

/** A form with one action on one object. */
function act(what: string, id: string, words: string, kind = ""): Html {
  return html`<form class="tight" method="post" action="/stripe/act">
    <input type="hidden" name="id" value="${id}" />
    <button class="small ${kind}" name="what" value="${what}">${words}</button>
  </form>`;
}

function deliveryHtml(userActions: StripeUserActions): Html {
  const { plan, held, lost } = userActions.delivery();
  const now =
    plan.lostShare === 1
      ? "never"
      : plan.held
        ? "held"
        : plan.copies > 1
          ? plan.withinMs > 0
            ? "mixed"
            : "twice"
          : plan.withinMs > 0
            ? "late"
            : "once";
  const option = (value: string, words: string): Html =>
    html`<option value="${value}" ${value === now && html`selected`}>${words}</option>`;
  return html`<section class="paper" aria-label="How events are sent">
    <form class="row" method="post" action="/stripe/act/deliver">
      <div>
        <label for="how">Events are sent</label>
        <select id="how" name="how">
          ${option("once", "at once, once")} ${option("twice", "at once, twice")}
          ${option("late", "late and out of order (within 20 seconds)")}
          ${option("mixed", "twice, late and out of order")} ${option("held", "when I release them")}
          ${option("never", "never")}
        </select>
      </div>
      <button class="tight">Change</button>
    </form>
    ${
      (held > 0 || plan.held) &&
      html`<form class="buttons" method="post" action="/stripe/act/release">
        <span>${held} held back.</span>
        <button class="small" name="order" value="as_made">Send them in order</button>
        <button class="small" name="order" value="reversed">Send the newest first</button>
      </form>`
    }
    ${lost > 0 && html`<p class="quiet small">${lost} never sent.</p>`}
  </section>`;
}

function booksHtml(userActions: StripeUserActions): Fragment {
  const books = userActions.books();
  if (books.length === 0) return null;
  return html`<div class="scroll">
    <table class="wide">
      <thead>
        <tr>
          <th scope="col">Currency</th>
          <th scope="col">Taken</th>
          <th scope="col">Refunded</th>
          <th scope="col">Disputed</th>
        </tr>
      </thead>
      <tbody>
        ${books.map(
          ({ currency, taken, refunded, disputed }) =>
            html`<tr>
              <th scope="row">${currency.toUpperCase()}</th>
              <td data-name="Taken">${money(taken, currency)}</td>
              <td data-name="Refunded">${money(refunded, currency)}</td>
              <td data-name="Disputed">${money(disputed, currency)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function sessionHtml(session: Session, userActions: StripeUserActions): Html {
  const tone = session.paymentStatus === "paid" ? "good" : session.status === "expired" ? "bad" : "";
  const payments = userActions.paymentsOf(session);
  const subscription = userActions.subscription(session.subscription ?? "");
  // The metadata of Headroom's sessions; other callers of the API have a reference, or nothing.
  const name = session.metadata["headroom_request"] ?? session.clientReferenceId ?? session.id;
  return html`<article class="paper" aria-label="${name}">
    <h3>
      ${name}: ${money(session.amount, session.currency)}
      <span class="badge ${tone}">${session.status}, ${session.paymentStatus}</span>
    </h3>
    <p class="quiet small">${session.id}, ${time(session.created * 1000)}</p>
    ${sessionActions(session)} ${subscription !== undefined && subscriptionHtml(subscription, userActions)}
    ${payments.map((payment) => paymentHtml(payment, userActions))}
  </article>`;
}

function sessionActions(session: Session): Fragment {
  if (session.status === "open") {
    return html`<div class="buttons">
      <a class="button" href="/stripe/checkout/${session.id}">Open the checkout</a>
      ${act("session.expire", session.id, "Let it expire")}
    </div>`;
  }
  if (session.later !== "processing") return null;
  return html`<div class="buttons">
    ${act("session.succeeded", session.id, "Let the payment go through", "primary")}
    ${act("session.failed", session.id, "Let the payment fail", "danger")}
  </div>`;
}

function paymentHtml(payment: Payment, userActions: StripeUserActions): Fragment {
  const refunds = userActions.refunds(payment.id);
  const disputes = userActions.disputes(payment.id);
  const isDisputed = disputes.some(isOpen);
  return html`<p>
      <code>${payment.id}</code> ${money(payment.amount, payment.currency)} <span class="badge">${payment.status}</span>
    </p>
    ${
      refunds.length + disputes.length > 0 &&
      html`<ul class="list">
        ${refunds.map((refund) => refundHtml(refund))} ${disputes.map((dispute) => disputeHtml(dispute))}
      </ul>`
    }
    ${
      payment.status === "succeeded" &&
      html`<div class="buttons">
        ${act("payment.refund", payment.id, "Refund in the dashboard")}
        ${act("payment.refund_half", payment.id, "Refund half of it")}
        ${!isDisputed && act("payment.dispute", payment.id, "Dispute it", "danger")}
        ${!isDisputed && act("payment.inquire", payment.id, "Inquire about it")}
      </div>`
    }`;
}

function refundHtml(refund: Refund): Html {
  const tone = refund.status === "failed" ? "bad" : refund.status === "succeeded" ? "good" : "";
  return html`<li class="row">
    <span>Refund of ${money(refund.amount, refund.currency)} <span class="badge ${tone}">${refund.status}</span></span>
    ${refund.status === "pending" && act("refund.succeeded", refund.id, "Let it arrive")}
    ${refund.status !== "failed" && act("refund.failed", refund.id, "Let it fail", "danger")}
  </li>`;
}

function disputeHtml(dispute: Dispute): Html {
  const tone = dispute.status === "lost" ? "bad" : dispute.status === "won" ? "good" : "";
  const isInquiry = dispute.status === "warning_needs_response";
  return html`<li class="row">
    <span>
      ${isInquiry ? "Inquiry about" : "Dispute over"} ${money(dispute.amount, dispute.currency)}
      <span class="badge ${tone}">${dispute.status}</span>
    </span>
    ${
      isOpen(dispute) &&
      html`${dispute.status !== "under_review" && act("dispute.advance", dispute.id, isInquiry ? "Make it a dispute" : "Hand in evidence")}
      ${act("dispute.won", dispute.id, isInquiry ? "Close it" : "Win it")}
      ${!isInquiry && act("dispute.lost", dispute.id, "Lose it", "danger")}`
    }
  </li>`;
}

function subscriptionHtml(subscription: Subscription, userActions: StripeUserActions): Html {
  const unpaid = userActions
    .invoices()
    .findLast(({ subscription: of, status }) => of === subscription.id && status === "open");
  return html`<p>
      <code>${subscription.id}</code> <span class="badge">${subscription.status}</span>
      until ${time(subscription.periodEnd * 1000)}${subscription.cancelAtPeriodEnd && ", and then it ends"}
    </p>
    ${
      subscription.status !== "canceled" &&
      html`<div class="buttons">
        ${act("subscription.renew", subscription.id, "Renew: paid")}
        ${act("subscription.renew_failing", subscription.id, "Renew: payment fails")}
        ${unpaid !== undefined && invoiceActions(unpaid)}
        ${!subscription.cancelAtPeriodEnd && act("subscription.end_later", subscription.id, "Cancel at the month’s end")}
        ${act("subscription.end", subscription.id, "Cancel now", "danger")}
      </div>`
    }`;
}

function invoiceActions({ id, subscription }: Invoice): Html {
  return html`${act("invoice.pay", id, "Pay the open bill")}
  ${act("subscription.unpaid", subscription, "Give up on it")}`;
}

function eventsHtml(userActions: StripeUserActions): Fragment {
  const events = userActions.events().slice(-maxEvents).toReversed();
  if (events.length === 0) return null;
  return html`<h2>Events</h2>
    <ul class="list">
      ${events.map(
        (event) =>
          html`<li class="row">
            <span><code>${event.type}</code> <span class="quiet small">${time(event.created * 1000)}</span></span>
            ${act("event.resend", event.id, "Send it again")}
          </li>`,
      )}
    </ul>`;
}
