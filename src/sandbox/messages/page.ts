/**
 * The page of all messages: each as the inbox, a mail and Slack show it, for a sample request.
 *
 * Owns: how they are shown. Does not own: their text; the program that starts the sandbox reads it from the database.
 */
import { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import type { SandboxEnv } from "../core/exchange.ts";
import { page, type Fragment, type Html } from "../pages/layout.ts";
import { letterResponse } from "../mail/letter.ts";
import { mrkdwn, plainText } from "../slack/page/mrkdwn.ts";

export interface SampleMessage {
  readonly name: string;
  /** Who gets it. */
  readonly audience: string;
  /** When it is used. */
  readonly meaning: string;
  /** Whether its text differs from the release's. */
  readonly changed: boolean;
  /** The first is the usual case. */
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly sample: string;
  readonly channels: {
    readonly "in-app"?: { readonly title: string; readonly body: string } | undefined;
    readonly email?: { readonly subject: string; readonly text: string; readonly html: string } | undefined;
    readonly slack?: { readonly text: string; readonly blocks: readonly unknown[] } | undefined;
    /** A channel without its own layout is shown as text. */
    readonly [channel: string]: { readonly title?: string | undefined; readonly text?: string | undefined } | undefined;
  };
}

/** Reads all messages, each time the page is opened. */
export type ReadMessages = () => Promise<readonly SampleMessage[]>;

export function messagePages(read: ReadMessages | undefined): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/messages", async () => messagesPage(await read?.()));
  routes.get("/messages/:name/:number/html", async (context) => {
    const { name, number } = context.req.param();
    const message = (await read?.())?.find((each) => each.name === name);
    return letterResponse(message?.samples[Number(number)]?.channels.email?.html ?? "There is no such message.");
  });
  return routes;
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}

function messagesPage(messages: readonly SampleMessage[] | undefined): Promise<Response> {
  return page({
    title: "Messages",
    current: "/messages",
    body: html`<h1>Everything people can be told</h1>
      <p>
        Each message for a sample request, by every channel that it may go by. To have one say something else:
        <code>headroom notifications templates set &lt;name&gt;</code>; reload the page to see it.
      </p>
      ${
        messages === undefined
          ? html`<p class="empty">Headroom is not connected, so there is nothing to show.</p>`
          : html`<nav class="jump" aria-label="Messages">
                ${messages.map(({ name }) => html`<a href="#${name}">${words(name)}</a> `)}
              </nav>
              ${messages.map((message) => messageHtml(message, words(message.name)))}`
      }`,
  });
}

function messageHtml(message: SampleMessage, title: string): Html {
  const { name, audience, meaning, changed, samples } = message;
  const [usual, ...others] = samples;
  return html`<section id="${name}" aria-labelledby="${name}-title">
    <h2 id="${name}-title">${title}${changed && html` <span class="badge now">in other words</span>`}</h2>
    <p class="quiet">For a ${audience}: ${meaning}.</p>
    ${usual !== undefined && channelsHtml(name, usual, 0)}
    ${others.map(
      (sample, index) =>
        html`<details>
          <summary>${sample.sample}</summary>
          ${channelsHtml(name, sample, index + 1)}
        </details>`,
    )}
  </section>`;
}

function channelsHtml(name: string, { sample, channels }: Sample, number: number): Html {
  const { "in-app": inbox, email, slack, ...others } = channels;
  return html`<div class="channels">
    ${
      inbox !== undefined &&
      html`<article class="paper" aria-label="In the inbox, ${sample}">
        <h3 class="quiet small">Inbox</h3>
        <p><strong>${inbox.title}</strong></p>
        <pre class="words">${inbox.body}</pre>
      </article>`
    }
    ${
      slack !== undefined &&
      html`<article class="paper" aria-label="In Slack, ${sample}">
        <h3 class="quiet small">Slack</h3>
        <div class="blocks">${slack.blocks.map(blockHtml)}</div>
      </article>`
    }
    ${
      email !== undefined &&
      html`<article class="paper whole" aria-label="As a mail, ${sample}">
        <h3 class="quiet small">Mail</h3>
        <p><strong>${email.subject}</strong></p>
        <iframe
          class="letter"
          loading="lazy"
          title="${name} as a mail, ${sample}"
          sandbox=""
          src="/messages/${name}/${number}/html"
        ></iframe>
        <details>
          <summary>As text</summary>
          <pre>${email.text}</pre>
        </details>
      </article>`
    }
    ${Object.entries(others).map(
      ([channel, message]) =>
        html`<article class="paper" aria-label="By ${channel}, ${sample}">
          <h3 class="quiet small">${channel}</h3>
          <pre>${message?.text}</pre>
        </article>`,
    )}
  </div>`;
}

const textObject = z.object({ type: z.string(), text: z.string() });
const shownBlock = z.union([
  z.object({ type: z.literal("section"), text: textObject }),
  z.object({ type: z.literal("context"), elements: z.array(textObject) }),
  z.object({ type: z.literal("actions"), elements: z.array(z.object({ text: textObject })) }),
]);
const nobody = { user: (id: string) => id, channel: (id: string) => id };

/** The few block types that messages to people use; any other is shown as it is. */
function blockHtml(block: unknown): Fragment {
  const read = shownBlock.safeParse(block);
  if (!read.success) return html`<pre>${JSON.stringify(block, null, 2)}</pre>`;
  if (read.data.type === "section") return html`<div>${textHtml(read.data.text)}</div>`;
  if (read.data.type === "context") return html`<div class="context">${read.data.elements.map(textHtml)}</div>`;
  return html`<p>
    ${read.data.elements.map(({ text }) => html`<span class="badge">${plainText(text.text)}</span> `)}
  </p>`;
}

function textHtml({ type, text }: z.infer<typeof textObject>): Fragment {
  return type === "mrkdwn" ? mrkdwn(text, nobody) : plainText(text);
}
