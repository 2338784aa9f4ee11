/**
 * What the customer sees behind the mailed link: the offer with its two answers, or what became of it and what to do.
 *
 * Owns: the words. Does not own: deciding anything, nor the route.
 */
import { z } from "zod";
import { html } from "hono/html";
import type { Page, Html } from "./page.ts";
import { dateInWords, remainingInWords, timeElement } from "./time.ts";

/** The answer of public.describe_confirmation and public.decide_by_token. */
export const confirmationSchema = z
  .object({
    status: z.enum(["open", "confirmed", "declined", "expired", "cancelled", "closed"]),
    decided_at: z.coerce.date().nullable(),
    decided_by: z.enum(["customer", "on_behalf"]).nullable(),
    expires_at: z.coerce.date(),
    request_id: z.string(),
    workspace: z.string(),
    contact: z.string().nullable(),
    requested_size: z.string(),
    quantity: z.number(),
    region: z.string(),
    needed_by_date: z.string().nullable(),
    expected_duration_days: z.number().nullable(),
    estimated_monthly_cost_usd: z.union([z.string(), z.number()]).nullable(),
  })
  .transform((story) => ({
    status: story.status,
    decidedAt: story.decided_at,
    decidedBy: story.decided_by,
    expiresAt: story.expires_at,
    requestId: story.request_id,
    workspace: story.workspace,
    contact: story.contact,
    size: story.requested_size,
    quantity: story.quantity,
    region: story.region,
    neededBy: story.needed_by_date,
    durationDays: story.expected_duration_days,
    monthlyCostUsd: story.estimated_monthly_cost_usd,
  }));
export type Confirmation = z.infer<typeof confirmationSchema>;

/** As long as a reason may be in the database. */
export const mostReasonChars = 2000;

const moneyFormat = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", currencyDisplay: "code" });

/** `path` is where the answer goes: this very page. `refused` is the reason why an answer that was just given did not count. */
export function confirmationPage(offer: Confirmation, path: string, now: Date, refused?: string): Page {
  const story = storyOf(offer, path, now);
  return {
    title: `${story.title} – ${offer.requestId}`,
    heading: offer.workspace,
    body: html`<h1>${story.title}</h1>
      ${refused !== undefined && html`<div class="note warn" role="alert"><p>Your answer was not recorded. ${refused}</p></div>`}
      ${story.lead} ${facts(offer)} ${story.next}`,
    foot: html`${whomToAsk(offer)}
    ${offer.status === "open" && "Please keep the link to yourself: whoever has it can answer for you."}`,
  };
}

interface Story {
  readonly title: string;
  readonly lead: Html;
  readonly next: Html;
}

function storyOf(offer: Confirmation, path: string, now: Date): Story {
  const ask = offer.contact ?? `whoever at ${offer.workspace} sent you the link`;
  switch (offer.status) {
    case "open":
      return openStory(offer, path, now);
    case "confirmed":
      return {
        title: "This offer is confirmed",
        lead: html`<div class="note good" role="status"><p>${whoAnswered(offer, "confirmed")}</p></div>`,
        next: html`<p>You need not do anything else. If this was a mistake, tell ${ask} soon.</p>`,
      };
    case "declined":
      return {
        title: "This offer is declined",
        lead: html`<div class="note" role="status"><p>${whoAnswered(offer, "declined")}</p></div>`,
        next: html`<p>
          Nothing will be set up and nothing will be charged. If you need the capacity after all, ask ${ask} for a new
          offer.
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

function openStory(offer: Confirmation, path: string, now: Date): Story {
  return {
    title: "Please confirm this offer",
    lead: html`<p>The capacity that was asked for on your behalf is approved. It is set up once you confirm.</p>
      <p>
        Please answer by <strong>${timeElement(offer.expiresAt)}</strong>, which is in
        ${remainingInWords(offer.expiresAt, now)}. Without an answer the offer ends then.
      </p>`,
    next: html`<form method="post" action="${path}">
        <input type="hidden" name="decision" value="confirm" />
        <button type="submit">Confirm the offer</button>
      </form>
      <details>
        <summary>Decline instead</summary>
        <form method="post" action="${path}">
          <input type="hidden" name="decision" value="decline" />
          <label for="reason">Why? <span class="quiet">(optional)</span></label>
          <textarea id="reason" name="reason" maxlength="${mostReasonChars}" aria-describedby="reason-hint"></textarea>
          <p class="hint" id="reason-hint">${offer.workspace} will read this. Up to ${mostReasonChars} characters.</p>
          <button type="submit" class="plain">Decline the offer</button>
        </form>
      </details>`,
  };
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

function facts(offer: Confirmation): Html {
  const rows: readonly (readonly [string, string | null])[] = [
    ["Request", offer.requestId],
    ["Capacity", `${offer.quantity} × ${offer.size} in ${offer.region}`],
    ["Needed by", offer.neededBy === null ? null : dateInWords(offer.neededBy)],
    ["For", offer.durationDays === null ? null : `${offer.durationDays} day${offer.durationDays === 1 ? "" : "s"}`],
    [
      "Estimated cost",
      offer.monthlyCostUsd === null ? null : `${moneyFormat.format(Number(offer.monthlyCostUsd))} a month`,
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
