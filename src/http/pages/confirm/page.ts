/**
 * What the customer sees behind the mailed link: the offer with its answers, or its outcome and what to do next.
 *
 * Owns: the words. Does not own: deciding anything, nor the route.
 */
import { html } from "hono/html";
import type { Page, Html } from "../page.ts";
import { dateInWords, remainingInWords, timeElement } from "../time.ts";
import { paymentSection, priceInWords, termsInWords } from "./payment.ts";
import { progressSection, refreshNote, refreshSecondsOf } from "./progress.ts";
import { hasPaid, isHeld, isProcessing, isReturning, type Confirmation, type Price } from "./story.ts";

/** The longest reason that the database accepts. */
export const maxReasonChars = 2000;

const moneyFormat = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", currencyDisplay: "code" });

export interface ConfirmationView {
  /** Where the answer goes: this very page. */
  readonly path: string;
  readonly now: Date;
  readonly locale: string;
  /** Why the answer that was just given was not accepted. */
  readonly refused?: string | undefined;
  /** The customer has come back from Stripe, whose webhook may still be on its way. */
  readonly returned?: boolean | undefined;
  /** The customer came back from Stripe without paying. */
  readonly cancelled?: boolean | undefined;
  /** The reader does not want the page to refresh itself. */
  readonly still?: boolean | undefined;
}

export function confirmationPage(offer: Confirmation, view: ConfirmationView): Page {
  const { path, refused, still = false } = view;
  const story = storyOf(offer, view);
  const seconds = refused === undefined ? (story.refreshSeconds ?? refreshSecondsOf(offer, view.now)) : undefined;
  return {
    title: `${story.title} – ${offer.requestId}`,
    heading: offer.workspace,
    refreshSeconds: still ? undefined : seconds,
    body: html`<h1>${story.title}</h1>
      ${
        refused !== undefined &&
        html`<div class="note warn" role="alert"><p>Your answer was not recorded. ${refused}</p></div>`
      }
      ${
        view.cancelled === true &&
        offer.status === "open" &&
        !hasPaid(offer) &&
        html`<div class="note" role="status"><p>You did not pay, and nothing was charged.</p></div>`
      }
      ${story.lead}
      ${
        isReturning(offer) &&
        html`<div class="note" role="status">
          <p>A payment of yours is still on its way. When it arrives, it goes back to you in full.</p>
        </div>`
      }
      ${isHeld(offer) && heldNote()} ${progressSection(offer)} ${paymentSection(offer, view.locale)}
      ${(offer.billing?.payments.length ?? 0) > 0 && html`<h2>Order</h2>`} ${facts(offer, view.locale)} ${story.next}
      ${refreshNote(path, seconds, still)}`,
    foot: html`${whomToAsk(offer)}
    ${
      offer.status === "open"
        ? "Please keep the link to yourself: anyone who has it can answer for you."
        : html`This page can be read until ${timeElement(offer.readableUntil)}.`
    }`,
  };
}

interface Story {
  readonly title: string;
  readonly lead: Html;
  readonly next: Html;
  readonly refreshSeconds?: number;
}

function storyOf(offer: Confirmation, view: ConfirmationView): Story {
  if (isProcessing(offer)) return processingStory();
  const ask = offer.contact ?? `whoever at ${offer.workspace} sent you the link`;
  switch (offer.status) {
    case "open":
      return openStory(offer, view, ask);
    case "confirmed":
      return confirmedStory(offer, ask);
    case "declined":
      return {
        title: "This offer is declined",
        lead: html`<div class="note" role="status"><p>${whoAnswered(offer, "declined")}</p></div>`,
        next: html`<p>
          Nothing will be set up, and ${hasPaid(offer) ? "what you paid goes back to you" : "nothing will be charged"}.
          If you need the capacity after all, ask ${ask} for a new offer.
        </p>`,
      };
    case "expired":
      return {
        title: "This offer has expired",
        lead: html`<div class="note warn" role="status">
          <p>The time to answer ended on ${timeElement(offer.expiresAt)}.</p>
        </div>`,
        next: html`<p>
          It can no longer be answered, and nothing was set up. If you still need the capacity, ask ${ask} for a new
          offer.
        </p>`,
      };
    case "cancelled":
      return {
        title: "This offer was withdrawn",
        lead: html`<div class="note warn" role="status"><p>${offer.workspace} has cancelled the request.</p></div>`,
        next: html`<p>It can no longer be answered. If you did not expect this, ask ${ask}.</p>`,
      };
    default:
      return {
        title: "This offer is closed",
        lead: html`<div class="note" role="status"><p>It can no longer be answered.</p></div>`,
        next: html`<p>If you did not expect this, ask ${ask}.</p>`,
      };
  }
}

function openStory(offer: Confirmation, view: ConfirmationView, ask: string): Story {
  const { price, billing } = offer;
  if (isHeld(offer)) return heldStory(offer, view, ask);
  if (price !== null && billing?.withdrawn === true) return withdrawnStory(offer, view, ask);
  const waits = billing?.checkout?.state === "asked" || billing?.checkout?.state === "open";
  if (view.returned === true && waits && price !== null) return returnedStory(offer, view, price);
  const answerBy = html`<p>
    Please answer by <strong>${timeElement(offer.expiresAt)}</strong>, which is in
    ${remainingInWords(offer.expiresAt, view.now)}. Without an answer the offer ends then.
  </p>`;
  if (price !== null) {
    return {
      title: "Please confirm this offer by paying",
      lead: html`${billing?.checkout?.state === "failed" && failedNote()} ${billing?.erased === true && erasedNote()}
        <p>The capacity that was asked for is approved. It is set up once you have paid.</p>
        ${answerBy}`,
      next: html`${payForm(price, view)} ${declineForm(offer, view.path)}`,
    };
  }
  return {
    title: "Please confirm this offer",
    lead: html`<p>The capacity that was asked for on your behalf is approved. It is set up once you confirm.</p>
      ${answerBy}`,
    next: html`<form method="post" action="${view.path}">
        <input type="hidden" name="decision" value="confirm" />
        <button type="submit">Confirm the offer</button>
      </form>
      ${declineForm(offer, view.path)}`,
  };
}

/** A debit may fail days later, and Stripe may never have made a page: the customer who comes back has to know. */
function failedNote(): Html {
  return html`<div class="note warn" role="status">
    <p>Your last attempt to pay failed, and nothing was charged. You can try again below.</p>
  </div>`;
}

/** Their old page at Stripe says only that it has expired. */
function erasedNote(): Html {
  return html`<div class="note" role="status">
    <p>
      What was known about you was erased, and the page on which you could pay was closed. You can pay on a new one.
    </p>
  </div>`;
}

function heldNote(): Html {
  return html`<div class="note warn" role="status">
    <p>
      Stripe reports a payment from you that does not match this offer. Somebody is looking into it: it will be put
      right, or refunded to you. Please do not pay again in the meantime.
    </p>
  </div>`;
}

function heldStory(offer: Confirmation, { path }: ConfirmationView, ask: string): Story {
  return {
    title: "Your payment is being reviewed",
    lead: html``,
    next: html`<p>You need not do anything else. If you want to know more, ask ${ask}.</p>
      ${declineForm(offer, path)}`,
    refreshSeconds: 300,
  };
}

function payForm(price: Price, { path, locale }: ConfirmationView): Html {
  return html`<form method="post" action="${path}">
    <input type="hidden" name="decision" value="pay" />
    <button type="submit" aria-describedby="pay-hint">Pay ${priceInWords(price, locale)}</button>
    <p class="hint" id="pay-hint">
      You pay at Stripe and come back here. Paying is your confirmation.
      ${price.kind === "recurring" && "The amount is charged again each month until the subscription ends."}
    </p>
  </form>`;
}

function declineForm(offer: Confirmation, path: string): Html {
  return html`<details>
    <summary>Decline instead</summary>
    <form method="post" action="${path}">
      <input type="hidden" name="decision" value="decline" />
      <label for="reason">Why? <span class="quiet">(optional)</span></label>
      <textarea id="reason" name="reason" maxlength="${maxReasonChars}" aria-describedby="reason-hint"></textarea>
      <p class="hint" id="reason-hint">${offer.workspace} will read this. Up to ${maxReasonChars} characters.</p>
      <button type="submit" class="plain">Decline the offer</button>
    </form>
  </details>`;
}

function withdrawnStory(offer: Confirmation, { path }: ConfirmationView, ask: string): Story {
  return {
    title: "This offer can no longer be paid",
    lead: html`<div class="note warn" role="status">
      <p>
        ${offer.workspace} has withdrawn its price.
        ${hasPaid(offer) ? "What you have paid goes back to you." : "Nothing was charged."}
      </p>
    </div>`,
    next: html`<p>If you still need the capacity, ask ${ask} for a new offer.</p>
      ${declineForm(offer, path)}`,
  };
}

function returnedStory(offer: Confirmation, view: ConfirmationView, price: Price): Story {
  return {
    title: "We are checking your payment",
    lead: html`<div class="note" role="status">
      <p>You came back from Stripe, which usually tells us within a few seconds whether you paid.</p>
    </div>`,
    next: html`<p>If you have not paid yet, you can go back to the payment:</p>
      ${payForm(price, view)} ${declineForm(offer, view.path)}`,
    refreshSeconds: 5,
  };
}

function processingStory(): Story {
  return {
    title: "Your payment is being processed",
    lead: html`<div class="note" role="status">
      <p>Stripe has your payment and waits for your bank. This can take a few days, depending on how you paid.</p>
    </div>`,
    next: html`<p>
      You need not do anything else, and please do not pay again. The offer is kept for you meanwhile. As soon as the
      payment has arrived, the capacity is set up.
    </p>`,
  };
}

function confirmedStory(offer: Confirmation, ask: string): Story {
  const { provisioning, billing } = offer;
  const paid = billing?.payments.find(({ counts, purpose }) => counts && purpose !== "renewal");
  const how =
    paid === undefined
      ? whoAnswered(offer, "confirmed")
      : html`You paid, and with that confirmed it, on ${timeElement(paid.paid_at)}.`;
  const lead = html`<div class="note good" role="status"><p>${how}</p></div>`;
  if (provisioning?.state === "running") {
    return {
      title: "Your capacity is running",
      lead,
      next: html`<p>${nothingElse(offer)} If something is not as you expected, tell ${ask}.</p>`,
    };
  }
  if (provisioning?.state === "failed") {
    return {
      title: "It could not be set up",
      lead: html`<div class="note warn" role="status">
        <p>
          We are sorry: the capacity could not be set up. ${paid !== undefined && "What you paid goes back to you."}
        </p>
      </div>`,
      next: html`<p>If you still need the capacity, ask ${ask}.</p>`,
    };
  }
  return {
    title: "This offer is confirmed",
    lead,
    next: html`<p>${nothingElse(offer)} If this was a mistake, tell ${ask} soon.</p>`,
  };
}

/** True unless a refund waits for the customer. */
function nothingElse({ billing }: Confirmation): string | false {
  const isAsked = billing?.payments.some(({ refunds }) => refunds.some(({ state }) => state === "asked")) === true;
  return !isAsked && "You need not do anything else.";
}

function whoAnswered(offer: Confirmation, did: "confirmed" | "declined"): Html {
  const when = offer.decidedAt === null ? "" : html` on ${timeElement(offer.decidedAt)}`;
  if (offer.decidedBy === "customer") return html`It was ${did} through this link${when}.`;
  return html`${offer.workspace} recorded your answer for you: ${did}${when}.`;
}

function whomToAsk(offer: Confirmation): string {
  return offer.contact === null
    ? `Questions? Ask whoever at ${offer.workspace} sent you the link.`
    : `Questions? Ask ${offer.contact} at ${offer.workspace}.`;
}

function facts(offer: Confirmation, locale: string): Html {
  const rows: readonly (readonly [string, string | null])[] = [
    ["Request", offer.requestId],
    ["Capacity", `${offer.quantity} × ${offer.size} in ${offer.region}`],
    ["Needed by", offer.neededBy === null ? null : dateInWords(offer.neededBy)],
    ["For", offer.durationDays === null ? null : `${offer.durationDays} day${offer.durationDays === 1 ? "" : "s"}`],
    ["Price", offer.price === null ? null : termsInWords(offer.price, locale)],
    [
      "Estimated cost",
      offer.monthlyCostUsd === null || offer.price !== null
        ? null
        : `${moneyFormat.format(Number(offer.monthlyCostUsd))} a month`,
    ],
  ];
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        value !== null &&
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}
