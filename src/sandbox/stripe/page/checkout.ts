/**
 * The hosted Checkout, on which a customer pays with one of Stripe's test cards or by a debit that takes days.
 */
import { html } from "hono/html";
import { page, time, type Html } from "../../pages/layout.ts";
import { declineWords, goodCard, testCards } from "../money/cards.ts";
import type { Session } from "../things.ts";
import { money } from "./money.ts";

/** `declined` says why the previous card was declined. */
export function checkoutPage(session: Session, declined?: string): Promise<Response> {
  const total = money(session.amount, session.currency);
  const each = session.mode === "subscription" ? " a month" : "";
  return page({
    title: declined === undefined ? `Pay ${total}` : `Declined: pay ${total}`,
    current: "/stripe",
    mainClass: "narrow",
    body: html`<h1>Pay ${total}${each}</h1>
      <p class="quiet">This checkout belongs to the sandbox. No money moves; test cards alone are taken.</p>
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
        ${session.customerEmail !== undefined && html`<p class="quiet small">For ${session.customerEmail}</p>`}
        ${session.clientReferenceId !== undefined && html`<p class="quiet small">Reference ${session.clientReferenceId}</p>`}
      </div>
      ${session.status === "open" ? payForms(session, total, declined) : ended(session)}`,
  });
}

function payForms(session: Session, total: string, declined: string | undefined): Html {
  const action = `/stripe/checkout/${session.id}`;
  return html`<form class="paper" method="post" action="${action}">
      <div class="field">
        <label for="card">Card number</label>
        <input
          id="card"
          name="card"
          inputmode="numeric"
          autocomplete="off"
          spellcheck="false"
          maxlength="30"
          required
          value="${declined === undefined ? spaced(goodCard) : ""}"
          aria-describedby="${declined === undefined ? "cards" : "declined cards"}"
          ${declined !== undefined && html`aria-invalid="true" autofocus`}
        />
        ${declined !== undefined && html`<p id="declined" class="error" role="alert">${declineWords(declined)} Nothing was charged. Try another card.</p>`}
      </div>
      <button class="primary" name="how" value="now">Pay ${total}</button>
    </form>
    <form class="buttons" method="post" action="${action}">
      <button name="how" value="later">Pay by bank debit (takes days)</button>
    </form>
    <p>${session.cancelUrl !== undefined && html`<a href="${session.cancelUrl}">Go back without paying</a>`}</p>
    ${cardTable()}
    <p class="quiet small">This page is open until ${time(session.expiresAt * 1000)}</p>`;
}

function cardTable(): Html {
  return html`<h2 id="cards-title">Test cards</h2>
    <table id="cards" aria-labelledby="cards-title">
      <tbody>
        ${testCards.map(
          ({ number, does }) =>
            html`<tr>
              <th scope="row" class="nowrap"><code>${spaced(number)}</code></th>
              <td>${does}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <p class="quiet small">
      What a debit, a dispute or a refund comes to is decided on <a href="/stripe">Stripe’s page</a>.
    </p>`;
}

function spaced(number: string): string {
  return number.replaceAll(/[\s-]/g, "").replaceAll(/(.{4})(?=.)/g, "$1 ");
}

function ended(session: Session): Html {
  const words =
    session.status === "expired" ? "This checkout has expired. Nothing was charged." : "This checkout is complete.";
  return html`<p class="note">
    ${words} ${session.later === "processing" && "The bank is still working on the payment."}
  </p>`;
}
