/**
 * The mailbox page: every mail, its text, its HTML in a sandboxed frame, and its links.
 *
 * The HTML of a mail is untrusted: its frame may run nothing and load nothing, and its links may only open a new page.
 */
import { Hono } from "hono";
import { z } from "zod";
import { html } from "hono/html";
import type { SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import type { World } from "../core/world.ts";
import { afterForm } from "../pages/form-result.ts";
import { page, seeOther, time, type Fragment, type Html } from "../pages/layout.ts";
import { letterResponse } from "./letter.ts";
import type { MailUserActions } from "./user-actions.ts";
import type { Mail } from "./mailbox.ts";

const maxShown = 100;
const events = { bounce: "MessageBounced", sent: "MessageSent" } as const;

export function mailPages(world: World, userActions: MailUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/mail", (context) => mailboxPage(world, userActions, context.req.query("to"), context.req.query("id")));
  routes.get("/mail/:id/html", (context) => letterResponse(userActions.find(context.req.param("id")).html ?? ""));
  routes.post("/mail/act/report", (context) =>
    afterForm(async () => {
      const form = z.object({ id: z.string(), event: z.enum(["bounce", "sent"]) });
      const { id, event } = form.parse(await readForm(context));
      userActions.report(id, events[event]);
      return seeOther(`/mail?${new URLSearchParams({ id }).toString()}`);
    }),
  );
  return routes;
}

function mailboxPage(
  world: World,
  userActions: MailUserActions,
  to: string | undefined,
  id: string | undefined,
): Promise<Response> {
  const address = to === "" ? undefined : to;
  const mails = userActions.list(address).slice(0, maxShown);
  const current = mails.find((mail) => mail.id === id) ?? mails[0];
  const people = [
    ...world.sampleData.people.map(({ name, email }) => [name, email]),
    [world.sampleData.customer.name, world.sampleData.customer.email],
  ];
  return page({
    title: "Mail",
    current: "/mail",
    body: html`<h1>Mailbox</h1>
      <form class="row paper" method="get" action="/mail">
        <div>
          <label for="to">Mail to</label>
          <select id="to" name="to" data-submit>
            <option value="">Everybody</option>
            ${people.map(([name, email]) => html`<option value="${email}" ${email === address && html`selected`}>${name}, ${email}</option>`)}
          </select>
        </div>
        <noscript><button class="tight">Show</button></noscript>
      </form>
      <div id="mails" data-live class="split">
        ${
          mails.length === 0
            ? html`<p class="empty">No mail yet.</p>`
            : html`<ul class="list mails">
                  ${mails.map((mail) => entry(mail, mail === current, address))}
                </ul>
                ${current !== undefined && mailHtml(userActions, current)}`
        }
      </div>`,
  });
}

function entry(mail: Mail, isCurrent: boolean, to: string | undefined): Html {
  const query = new URLSearchParams({ id: mail.id, ...(to === undefined ? {} : { to }) });
  return html`<li>
    <a href="/mail?${query.toString()}" ${isCurrent && html`aria-current="true"`}>
      <strong>${mail.subject}</strong><br />
      <span class="quiet small">${mail.to.join(", ")} · ${time(mail.at)}</span>
    </a>
  </li>`;
}

function mailHtml(userActions: MailUserActions, mail: Mail): Html {
  const links = userActions.linksIn(mail);
  return html`<article class="paper" aria-label="${mail.subject}">
    <h2>${mail.subject}</h2>
    <p class="small quiet">
      From ${mail.from} to ${mail.to.join(", ")}, ${time(mail.at)}, by ${mail.via === "smtp" ? "SMTP" : "Postal"}
      ${mail.status !== "accepted" && html`<span class="badge ${mail.status === "bounced" ? "bad" : "good"}">${mail.status}</span>`}
    </p>
    ${
      links.length > 0 &&
      html`<ul class="list">
        ${links.map((link) => html`<li><a href="${link}" rel="noreferrer">${link}</a></li>`)}
      </ul>`
    }
    ${bodies(mail)} ${mail.via === "postal" && reports(mail)}
  </article>`;
}

function bodies(mail: Mail): Fragment {
  const text = mail.text !== undefined && html`<pre>${mail.text}</pre>`;
  if (mail.html === undefined) return text;
  return html`<iframe
      class="letter"
      title="The mail as HTML"
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      src="/mail/${mail.id}/html"
    ></iframe>
    <details>
      <summary>As text</summary>
      ${text}
    </details>`;
}

function reports(mail: Mail): Html {
  return html`<form class="buttons" method="post" action="/mail/act/report">
    <input type="hidden" name="id" value="${mail.id}" />
    <button class="small" name="event" value="sent">Report it as delivered</button>
    <button class="small danger" name="event" value="bounce">Let it bounce</button>
  </form>`;
}
