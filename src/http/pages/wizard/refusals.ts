/** Pages of the wizard that say why the order cannot continue here, and where it can. */
import { html } from "hono/html";
import type { Page } from "../page.ts";
import { stepTitles, type Draft } from "./draft.ts";

/** No wizard at this address. The same for a workspace that does not exist. */
export function closedPage(): Page {
  return {
    title: "Nothing can be ordered here",
    body: html`<h1>Nothing can be ordered here</h1>
      <p>Check the address, or ask whoever gave it to you.</p>`,
  };
}

/** An invalid link of the wizard: cut off, made up, replaced by a newer mail, or a day old. */
export function unknownDraftPage(newOrderPath: string): Page {
  return {
    title: "This link is not valid, or no longer",
    body: html`<h1>This link is not valid, or no longer</h1>
      <p>
        Use the link in the latest mail exactly as it was sent. Orders that were not sent are kept for a day: after
        that, start a new order. Nothing was ordered.
      </p>
      <p><a class="button" href="${newOrderPath}">Start a new order</a></p>`,
  };
}

/** A step that cannot be filled in yet. */
export function outOfOrderPage(draft: Draft, base: string): Page {
  const step = draft.step === 1 || draft.step === 2 || draft.step === 3 ? draft.step : 3;
  return {
    title: `Step ${step} comes first`,
    heading: draft.workspace,
    body: html`<h1>Step ${step} comes first</h1>
      <p>
        ${
          draft.revision === 0
            ? "This order was not started, or it has expired: orders that were not sent are kept for a day."
            : "What you filled in before is still there."
        }
        Nothing was ordered.
      </p>
      <p><a class="button" href="${base}/${step}">${stepTitles[step]}</a></p>`,
  };
}
