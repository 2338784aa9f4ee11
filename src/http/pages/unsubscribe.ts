/** The page behind the link at the end of a mail. It stops mails of that kind. */
import { html } from "hono/html";
import { z } from "zod";
import type { Page } from "./page.ts";

export const stopSchema = z.object({
  workspace: z.string(),
  kinds: z.array(z.string()),
  stopped: z.boolean(),
  /** Members have preferences; customers have only this page. */
  member: z.boolean(),
});
export type Stop = z.infer<typeof stopSchema>;

/** `resumed`: they were stopped until now. */
export function unsubscribePage({ workspace, kinds, stopped, member }: Stop, path: string, resumed = false): Page {
  const list = html`<ul>
    ${kinds.map((kind) => html`<li>${kind}</li>`)}
  </ul>`;
  if (stopped) {
    return {
      title: "These mails are stopped",
      body: html`<h1>These mails are stopped</h1>
        <div class="note" role="status"><p>${workspace} no longer mails you about:</p></div>
        ${list}
        <p>
          What you must not miss, such as ${member ? "a job that failed" : "an offer that waits for your answer"}, still
          comes by mail.
        </p>
        <form method="post" action="${path}/undo"><button type="submit">Get these mails again</button></form>
        ${member && html`<p>There is more to choose in <a href="/preferences">your preferences</a>.</p>`}`,
    };
  }
  if (resumed) {
    return {
      title: "You get these mails again",
      body: html`<h1>You get these mails again</h1>
        <div class="note" role="status"><p>${workspace} mails you about:</p></div>
        ${list}
        <form method="post" action="${path}"><button type="submit">Stop these mails</button></form>`,
    };
  }
  return {
    title: "Stop these mails?",
    body: html`<h1>Stop these mails?</h1>
      <p>${workspace} will no longer mail you about:</p>
      ${list}
      <form method="post" action="${path}"><button type="submit">Stop these mails</button></form>
      <p class="quiet">Nothing has been changed yet. Other mails are not affected.</p>`,
  };
}

/** An invalid link: mistyped, cut off by a mail program, made up, or too old. */
export function unknownStopPage(): Page {
  return {
    title: "This link is not valid",
    body: html`<h1>This link is not valid</h1>
      <p>
        Mail programs sometimes cut a long link in two: copy it from the latest mail as a whole, or open it from there.
      </p>
      <p>Nothing was changed.</p>`,
  };
}
