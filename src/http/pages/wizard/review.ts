/**
 * The end of the wizard: the wait for the mail, the order to check, and its outcome.
 *
 * Owns: the words. Does not own: ordering.
 */
import { html } from "hono/html";
import { priceInWords, termsInWords } from "../confirm/payment.ts";
import type { Html, Page } from "../page.ts";
import { dateInWords, timeElement } from "../time.ts";
import type { Draft } from "./draft.ts";
import { stepTitles } from "./draft.ts";
import { stepsNav } from "./steps.ts";

export interface ReviewView {
  readonly base: string;
  readonly locale: string;
  /** Why the order that was just sent was not accepted. */
  readonly refused?: string | undefined;
  /** The customer came back from Stripe without paying. */
  readonly cancelled?: boolean | undefined;
  /** The link was just sent again. */
  readonly resent?: boolean | undefined;
}

/** Step 4 for the person who filled in the form: the link in the mail, which proves the address, leads to the rest. */
export function mailedPage(draft: Draft, { base, locale, refused, resent = false }: ReviewView): Page {
  const email = String(draft.terms.email ?? "");
  return {
    title: "Look in your mailbox – step 4 of 4",
    heading: draft.workspace,
    body: html`${stepsNav(draft, 4, base)}
      <h1>Look in your mailbox</h1>
      ${alert(refused)}
      <div class="note good" role="status">
        <p>
          We ${resent && "again "}sent a link to <strong>${email}</strong>. Open it to check your order and to send it.
        </p>
      </div>
      <p>The link shows that the address is yours. Nothing is ordered before that.</p>
      ${facts(draft, locale)}
      <p>
        No mail? Look among unwanted mail, or
        <a href="${base}/3">correct the address</a>.
      </p>
      <form method="post" action="${base}/4">
        <input type="hidden" name="action" value="resend" />
        <button type="submit" class="plain">Send it again</button>
      </form>`,
    foot: keptUntil(draft),
  };
}

/** Step 4 behind the link in the mail: price, routing, and the one button. */
export function reviewPage(draft: Draft, { base, locale, refused }: ReviewView): Page {
  const { offer, routing } = draft;
  const problem = draft.problem ?? routing?.problem;
  const price = offer === null || offer === undefined ? undefined : priceInWords(offer, locale);
  return {
    title: `${stepTitles[4]} – step 4 of 4`,
    heading: draft.workspace,
    body: html`${stepsNav(draft, 4, base)}
      <h1>${stepTitles[4]}</h1>
      ${alert(refused)}
      ${typeof problem === "string" && html`<div class="note warn" role="alert"><p>${problem}</p></div>`}
      ${facts(draft, locale, base)}
      ${typeof problem !== "string" && price !== undefined && html`${routingWords(draft)} ${orderForm(draft, base, price)}`}
      <p class="back"><a href="${base}/1">Change something</a></p>`,
    foot: keptUntil(draft),
  };
}

function routingWords({ routing, workspace }: Draft): Html {
  const reviews = routing?.reviews ?? [];
  if (reviews.length === 0) {
    return html`<div class="note good">
      <p>This is approved at once. You pay now, and it is set up when you have paid.</p>
    </div>`;
  }
  const sides = reviews.map((side) => (side === "commercial" ? "its commercial team" : "its technical team"));
  return html`<div class="note">
    <p>
      ${workspace} reviews this first: ${sides.join(" and ")}. You pay nothing now. When it is approved you get a mail
      with a link to pay.
    </p>
  </div>`;
}

function orderForm(draft: Draft, base: string, price: string): Html {
  const { offer, revision, routing } = draft;
  const seen = offer === null || offer === undefined ? "" : `${offer.kind} ${offer.currency} ${offer.amount}`;
  return html`<form method="post" action="${base}/4">
    <input type="hidden" name="action" value="order" />
    <input type="hidden" name="revision" value="${revision}" />
    <input type="hidden" name="seen" value="${seen}" />
    <button type="submit">
      ${(routing?.reviews ?? []).length === 0 ? `Order and pay ${price}` : "Send the order for review"}
    </button>
  </form>`;
}

/** The order is a request, and waits to be paid: the customer came back from Stripe, or opened the link again. */
export function unpaidPage(draft: Draft, view: ReviewView & { readonly price: string; readonly link: string }): Page {
  return {
    title: "Your order waits to be paid – step 4 of 4",
    heading: draft.workspace,
    body: html`<h1>Your order waits to be paid</h1>
      ${alert(view.refused)}
      ${view.cancelled === true && html`<div class="note" role="status"><p>You did not pay, and nothing was charged.</p></div>`}
      <p>Your order <strong>${draft.request?.id}</strong> is approved. It is set up once you have paid.</p>
      <form method="post" action="${view.base}/4">
        <input type="hidden" name="action" value="order" />
        <input type="hidden" name="revision" value="${draft.revision}" />
        <input type="hidden" name="seen" value="" />
        <button type="submit">Pay ${view.price}</button>
      </form>
      <p class="back"><a href="${view.link}">See the order, or decline it</a></p>`,
    foot: html`If you do not pay, the order expires and nothing is charged.`,
  };
}

/** The order that was sent, for a reader without a customer's link: it is under review, or has ended. */
export function sentPage(draft: Draft): Page {
  const { request, workspace } = draft;
  const reviewed = request?.state === "SUBMITTED" || request?.state === "UNDER_REVIEW";
  return {
    title: `Your order ${request?.id} was sent`,
    heading: workspace,
    body: html`<h1>Your order was sent</h1>
      <div class="note good" role="status">
        <p>It has the number <strong>${request?.id}</strong>.</p>
      </div>
      ${
        reviewed
          ? html`<h2>What happens next</h2>
              <ol>
                <li>${workspace} reviews it.</li>
                <li>When it is approved, you get a mail with a link to pay.</li>
                <li>It is set up when you have paid.</li>
              </ol>
              <p>You need not do anything until then.</p>`
          : html`<p>The link in your mail shows its current state.</p>`
      }`,
    foot: html`Questions? Ask ${workspace}, and give the number.`,
  };
}

function alert(refused: string | undefined): Html | false {
  return refused !== undefined && html`<div class="note warn" role="alert"><p>${refused}</p></div>`;
}

function keptUntil({ expires_at: until }: Draft): Html {
  return until === null
    ? html`Nothing is ordered before the last step.`
    : html`This order is kept until ${timeElement(until)}, and then forgotten.`;
}

function facts(draft: Draft, locale: string, base?: string): Html {
  const { terms, offer } = draft;
  const days = terms.duration_days;
  const person = [terms.name, terms.organisation].filter((each) => each !== null && each !== undefined).join(", ");
  const rows: readonly (readonly [string, string | undefined, number?])[] = [
    ["Capacity", `${terms.quantity} × ${terms.size} in ${terms.region}`, 1],
    ["Needed by", typeof terms.needed_by === "string" ? dateInWords(terms.needed_by) : "Any day", 2],
    ["For", days === null || days === undefined ? "No fixed end" : `${days} day${days === 1 ? "" : "s"}`, 2],
    ["Who", person, 3],
    ["E-mail", String(terms.email ?? ""), 3],
    ["Price", offer === null || offer === undefined ? undefined : termsInWords(offer, locale)],
  ];
  return html`<dl>
    ${rows.map(
      ([name, value, step]) =>
        value !== undefined &&
        html`<dt>${name}</dt>
          <dd>
            ${value}
            ${
              base !== undefined &&
              step !== undefined &&
              html`<a class="change" href="${base}/${step}">Change<span class="hidden"> ${name}</span></a>`
            }
          </dd>`,
    )}
  </dl>`;
}
