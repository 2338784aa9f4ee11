/**
 * From the confirmation to running capacity, as a list of steps, and how often the page refreshes while work is in progress.
 *
 * There is no script: the browser reloads the page automatically, less often the longer it takes, and the customer can stop that. Text that
 * changes is in a polite live region, so that a screen reader finds it and nothing interrupts.
 */
import { html } from "hono/html";
import type { Html } from "../page.ts";
import { timeElement } from "../time.ts";
import { hasPaid, isProcessing, type Confirmation, type Provisioning } from "./story.ts";

export function progressSection(offer: Confirmation): Html | false {
  const { provisioning, status } = offer;
  if (provisioning === null || status !== "confirmed") return false;
  const { state, completed_at: completedAt } = provisioning;
  const done = state === "running";
  const over = state === "failed" || state === "cancelled";
  return html`<h2 id="progress">How it stands</h2>
    <ol class="steps" role="status" aria-labelledby="progress">
      <li class="done"><strong>Confirmed</strong></li>
      <li class="${done ? "done" : "now"}">
        <strong>${setupTitle(state)}</strong>
        ${setupWords(provisioning)} ${state === "delayed" && endWords(offer, provisioning)}
        ${!done && !over && workDone(provisioning)}
      </li>
      ${
        !over &&
        html`<li class="${done ? "done" : "later"}">
          <strong>${done ? "Running" : "Then it runs"}</strong>
          ${done && completedAt !== null && html`<p>Since ${timeElement(completedAt)}.</p>`}
        </li>`
      }
    </ol>`;
}

function workDone({ steps, progress }: Provisioning): Html {
  return html`${progress !== null && html`<progress max="100" value="${progress}">${progress} %</progress>`}
  ${
    steps.length > 0 &&
    html`<ul>
      ${steps.map(({ step, at }) => html`<li>${step} <span class="quiet">${clock(at)}</span></li>`)}
    </ul>`
  }`;
}

function setupTitle(state: Provisioning["state"]): string {
  if (state === "running") return "Set up";
  if (state === "failed" || state === "cancelled") return "Not set up";
  return "Being set up";
}

function setupWords({ state, held_by: heldBy }: Provisioning): Html | false {
  switch (state) {
    case "waiting":
      return heldBy === "customer"
        ? html`<p>It waits until your other order is set up: one follows the other.</p>`
        : html`<p>It waits for its turn.</p>`;
    case "provisioning":
      return html`<p>Work is in progress.</p>`;
    case "delayed":
      return html`<p>It did not work the first time. Somebody is looking at it, and it will be tried again.</p>`;
    case "failed":
      return html`<p>It could not be set up.</p>`;
    case "cancelled":
      return html`<p>It was cancelled.</p>`;
    default:
      return false;
  }
}

/** Tells a customer whose order is stuck what will happen to it, and to the money. */
function endWords(offer: Confirmation, { ends_at: endsAt }: Provisioning): Html | false {
  if (endsAt === null) return false;
  return html`<p>
    If it is not set up by ${timeElement(endsAt)}, it is called
    off${hasPaid(offer) ? ", and what you paid goes back to you." : "."}
  </p>`;
}

function clock(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${at.toISOString().slice(11, 16)} UTC</time>`;
}

const minuteMs = 60_000;

/** Seconds until the page refreshes; undefined if nothing is expected to change soon. */
export function refreshSecondsOf(offer: Confirmation, now: Date): number | undefined {
  const { provisioning, billing, status } = offer;
  if (isProcessing(offer)) return ageMinutes(billing?.checkout?.since ?? now, now) < 10 ? 15 : 300;
  const underWay =
    status === "confirmed" && (provisioning?.state === "waiting" || provisioning?.state === "provisioning");
  const goesBack = billing?.payments.some(({ refunds }) => refunds.some(({ state }) => state === "due")) === true;
  if (!underWay && !goesBack) return undefined;
  const age = ageMinutes(provisioning?.since ?? now, now);
  return age < 10 ? 10 : age < 120 ? 60 : 300;
}

function ageMinutes(since: Date, now: Date): number {
  return (now.getTime() - since.getTime()) / minuteMs;
}

/** Says that the page refreshes automatically, and how to stop that: slow readers and screen-reader users may want it to stay still. */
export function refreshNote(path: string, seconds: number | undefined, still: boolean): Html | false {
  if (seconds === undefined) return false;
  return still
    ? html`<p class="quiet refresh"><a href="${path}">Refresh this page automatically</a></p>`
    : html`<p class="quiet refresh">
        This page refreshes itself every ${inWords(seconds)}.
        <a href="${path}?refresh=off">Stop that</a>
      </p>`;
}

function inWords(seconds: number): string {
  if (seconds === 60) return "minute";
  return seconds < 60 ? `${seconds} seconds` : `${seconds / 60} minutes`;
}
