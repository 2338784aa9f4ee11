/**
 * The inbox of the member who is signed in: their notifications, newest first, which of them are new, and marking them as read.
 *
 * Owns: the words. Works without script; with it, the page announces what has arrived and does not move what is being read.
 */
import { html } from "hono/html";
import type { Html, Page } from "./page.ts";
import { scriptOf } from "./script.ts";
import { timeElement } from "./time.ts";

export interface InboxItem {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly actionUrl: string | null;
  readonly createdAt: Date;
  readonly readAt: Date | null;
}

export interface Inbox {
  readonly items: readonly InboxItem[];
  /** Up to a thousand. */
  readonly unread: number;
  readonly latest: string | null;
  /** Where older ones are; undefined on the last page. */
  readonly older: string | undefined;
  /** Whether this is not the first page. */
  readonly paged: boolean;
  /** The one request whose messages these are; undefined: all of them. */
  readonly about: string | undefined;
  /** What was just done. */
  readonly done?: string | undefined;
}

export function inboxPage(inbox: Inbox): Page {
  const { items, unread, latest, older, paged, about } = inbox;
  return {
    title: unread === 0 ? "Inbox" : `(${countOf(unread)}) Inbox`,
    heading: "Notifications",
    script,
    body: html`<h1>Inbox</h1>
      ${inbox.done !== undefined && html`<div class="note good" role="status"><p>${inbox.done}</p></div>`}
      <div id="live" role="status" data-unread="${unread}" data-latest="${latest ?? ""}"></div>
      <p id="unread">${unread === 0 ? "Nothing is unread." : html`<strong>${countOf(unread)}</strong> unread.`}</p>
      ${about !== undefined && html`<p>About ${about} alone. <a href="/inbox">Show everything</a></p>`}
      ${about === undefined && unread > 0 && items[0] !== undefined && markAll(items[0])}
      ${
        items.length === 0
          ? html`<p class="quiet">${nothing(inbox)}</p>`
          : html`<ol class="inbox">
              ${items.map(itemElement)}
            </ol>`
      }
      ${paged && html`<p class="back"><a href="/inbox">Newest</a></p>`}
      ${older !== undefined && html`<p class="back"><a href="${older}">Older</a></p>`}`,
    foot: html`<a href="/preferences">What you are told, how and when</a> · <a href="/auth/me">Who is signed in</a>`,
  };
}

function nothing({ paged, about }: Inbox): string {
  if (paged) return "There is nothing older.";
  return about === undefined ? "Nobody has told you anything yet." : "Nobody has told you anything about it.";
}

function countOf(unread: number): string {
  return unread >= 1_000 ? "1,000 or more" : String(unread);
}

/** Up to the newest one on this page: what came since was not seen. */
function markAll({ createdAt }: InboxItem): Html {
  return html`<form method="post" action="/inbox">
    <input type="hidden" name="before" value="${createdAt.toISOString()}" />
    <button type="submit" class="plain" name="action" value="all">Mark all as read</button>
  </form>`;
}

function itemElement(item: InboxItem): Html {
  const { id, title, body, actionUrl, createdAt, readAt } = item;
  return html`<li class="${readAt === null && "new"}">
    <h2 id="n-${id}">${readAt === null && html`<span class="tag">New</span> `}${title}</h2>
    <p class="said">${body}</p>
    <p class="hint">${timeElement(createdAt)}</p>
    <div class="row">
      ${
        actionUrl !== null &&
        /^https?:/.test(actionUrl) &&
        html`<a class="button plain" href="${actionUrl}" rel="noreferrer" aria-describedby="n-${id}">View</a>`
      }
      ${
        readAt === null &&
        html`<form method="post" action="/inbox">
          <input type="hidden" name="id" value="${id}" />
          <button type="submit" class="plain" name="action" value="read" aria-describedby="n-${id}">
            Mark as read
          </button>
        </form>`
      }
    </div>
  </li>`;
}

const script = scriptOf(`
const live = document.getElementById("live");
new EventSource("/events").addEventListener("notifications", (event) => {
  const { unread, latest } = JSON.parse(event.data);
  if (String(unread) === live.dataset.unread && (latest ?? "") === live.dataset.latest) return;
  live.dataset.unread = unread;
  live.dataset.latest = latest ?? "";
  document.title = (unread > 0 ? "(" + unread + ") " : "") + "Inbox";
  document.getElementById("unread").textContent = unread === 0 ? "Nothing is unread." : unread + " unread.";
  const link = document.createElement("a");
  link.href = "/inbox";
  link.textContent = "Show what is new";
  const text = document.createElement("p");
  text.append("Something came, or was read elsewhere. ", link);
  live.className = "note";
  live.replaceChildren(text);
});
`);
