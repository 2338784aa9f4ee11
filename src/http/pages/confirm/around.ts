/** The pages around the offer: links that lead nowhere, the wait for Stripe's page, and the return of a browser that nothing identifies. */
import { html } from "hono/html";
import type { Page } from "../page.ts";

/** A link that leads to no offer: mistyped, cut off by a mail program, or made up. */
export function unknownLinkPage(): Page {
  return {
    title: "This link is not valid",
    body: html`<h1>This link is not valid</h1>
      <p>
        There is no offer behind it. Mail programs sometimes cut a long link in two: copy it from the mail as a whole,
        or open it from there.
      </p>
      <p>If that does not help, ask whoever sent you the link for a new one. Nothing was changed.</p>`,
  };
}

/** A link that can no longer be read, because its time has passed. */
export function unreadableLinkPage(): Page {
  return {
    title: "This page can no longer be read",
    body: html`<h1>This page can no longer be read</h1>
      <p>A link can be read for 90 days after it was answered, or after the time for an answer was over.</p>
      <p>If you need to know more, ask whoever sent you the link.</p>`,
  };
}

/** Stripe has been asked for a page to pay on, and has not answered yet. */
export function preparingPage(back: string, next: string): Page {
  return {
    title: "Preparing the payment",
    refreshSeconds: 3,
    refreshTo: next,
    body: html`<h1>Preparing the payment</h1>
      <div class="note" role="status">
        <p>Stripe was asked for a page on which you can pay. This page goes on by itself when it is there.</p>
      </div>
      <p>Nothing has been charged yet. <a href="${back}">Back to the offer</a></p>`,
  };
}

/** Stripe made no page and will not make one for this attempt, so the next attempt may begin. */
export function notPreparedPage(back: string): Page {
  return {
    title: "The payment could not be prepared",
    body: html`<h1>The payment could not be prepared</h1>
      <p>Stripe did not make a page on which you could pay. Nothing was charged.</p>
      <p><a class="button" href="${back}">Back to the offer</a></p>
      <p class="quiet">You can try again there now or later: the offer is kept until it expires.</p>`,
  };
}

/** Stripe has not answered yet. Until it is known whether Stripe made a page, no other is made, so retrying immediately does not help. */
export function stillPreparingPage(back: string): Page {
  return {
    title: "The payment is not ready yet",
    body: html`<h1>The payment is not ready yet</h1>
      <p>Stripe has not answered in time, and is asked again. Nothing was charged.</p>
      <p><a class="button" href="${back}">Back to the offer</a></p>
      <p class="quiet">Please come back in a few minutes: the offer is kept until it expires.</p>`,
  };
}

/** A person comes back from Stripe with a browser that does not identify them. The address alone reveals nothing. */
export function comeBackPage(cancelled: boolean): Page {
  return {
    title: cancelled ? "You did not pay" : "Thank you",
    body: html`<h1>${cancelled ? "You did not pay" : "Thank you"}</h1>
      <p>
        ${cancelled ? "Nothing was charged." : "If you paid, your payment is on its way to us."} To see how things
        stand${cancelled && ", or to pay after all"}, open the link in your mail.
      </p>`,
  };
}
