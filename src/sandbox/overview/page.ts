/**
 * The sandbox's first page: its providers, whether Headroom is connected, the latest calls and webhooks, and the switches for faults.
 */
import { Hono } from "hono";
import { z } from "zod";
import { html } from "hono/html";
import type { SendResult, SentWebhook } from "../core/webhook-sender.ts";
import type { SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import { faultInput, faultKinds, providers, type FaultInput, type FaultRule } from "../core/faults.ts";
import type { LoggedRequest } from "../core/request-log.ts";
import type { World } from "../core/world.ts";
import { afterForm } from "../pages/form-result.ts";
import { page, seeOther, time, type Fragment, type Html } from "../pages/layout.ts";

const shown = 15;

const kindWords: Readonly<Record<(typeof faultKinds)[number], string>> = {
  error500: "fails (500)",
  error500Midway: "fails midway (500), and says so again under the same key",
  rateLimit: "asks for quiet (429)",
  locked: "says that the object is busy",
  refuse: "refuses",
  refuseEchoing: "refuses and repeats what it was sent",
  hangBeforeAccept: "hangs, does nothing",
  dropBeforeAccept: "hangs up at once",
  error500AfterAccept: "does it, and reports a failure",
  hang: "does it, and never answers",
  dropAfterAccept: "does it, and hangs up",
  cutAnswer: "does it, and hangs up mid-answer",
  late: "does it, and answers late",
  garbage: "does it, and answers nonsense",
  answer: "is answered by somebody on the way",
};

const standIns = [
  [
    "/slack",
    "Slack",
    "Channels, messages with working buttons, modals and /capacity, as seen by any of the sample people.",
  ],
  ["/mail", "Mail", "Every mail that was sent, by SMTP or by Postal, with the customer's links."],
  ["/linear", "Linear", "The issues that mirror requests. Comment on one, or move it."],
  ["/github", "GitHub", "Workflow runs that were dispatched. Watch them, and let one fail, hang or crash."],
  ["/stripe", "Stripe", "Pay as the customer; be the bank, and the dashboard. Choose how events are sent."],
  ["/messages", "Messages", "Every message that people can get, as the inbox, a mail and Slack show it."],
] as const;

const numbers = new Set(["times", "ms", "probability", "retryAfterSeconds"]);

/** A form sends text; empty fields are left out, and the probability is in percent. */
function faultOf(form: Readonly<Record<string, unknown>>): FaultInput {
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(form)) {
    if (typeof value !== "string" || value === "") continue;
    given[name] = !numbers.has(name) ? value : name === "probability" ? Number(value) / 100 : Number(value);
  }
  return faultInput.parse(given);
}

const choices = ["provider", "kind", "times", "probability", "method", "ms"] as const;

/** People often plan several faults in a row, so the form keeps its values. */
function lastChoice(form: Readonly<Record<string, unknown>>): URLSearchParams {
  const chosen = choices.map((name) => [name, form[name]]);
  return new URLSearchParams(chosen.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}

export function overviewPages(world: World, reset: () => void): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/", (context) => overview(world, context.req.query()));
  routes.post("/_faults/add", (context) =>
    afterForm(async () => {
      const form = await readForm(context);
      world.faults.add(faultOf(form));
      return seeOther(`/?${lastChoice(form).toString()}#faults`);
    }),
  );
  routes.post("/_faults/remove", (context) =>
    afterForm(async () => {
      const { id } = z.object({ id: z.string() }).parse(await readForm(context));
      if (id === "all") world.faults.clear();
      else world.faults.remove(id);
      return seeOther("/#faults");
    }),
  );
  routes.post("/_reset", () => {
    reset();
    return seeOther("/");
  });
  return routes;
}

function overview(world: World, chosen: Readonly<Record<string, string>>): Promise<Response> {
  const headroom = world.webhooks.headroomUrl;
  return page({
    title: "Overview",
    current: "/",
    body: html`<h1>Everything around Headroom, without an account</h1>
      <p>
        These stand-ins speak the providers’ own protocols. Headroom calls them through the real SDKs, and they sign
        their webhooks as the providers do.
      </p>
      ${
        headroom === undefined
          ? html`<p class="note warn">Headroom is not connected: what you do here is not sent to it.</p>`
          : html`<p>What you do here is sent to Headroom at <a href="${headroom}">${headroom}</a>.</p>`
      }
      <div class="grid">
        ${standIns.map(
          ([href, name, about]) =>
            html`<div class="paper">
              <h3><a href="${href}">${name}</a></h3>
              <p class="quiet small">${about}</p>
            </div>`,
        )}
      </div>
      <h2 id="faults">Faults</h2>
      <p class="quiet">
        Decide how the next calls of a provider go wrong. Headroom should cope, and report it. Faults are removed when
        the sandbox stops.
      </p>
      <div id="fault-list" data-live>${faultList(world)}</div>
      ${faultForm(chosen)}
      <h2>What Headroom asked</h2>
      <div id="requests" data-live class="scroll">
        ${requestTable(world.requests.list().slice(-shown).toReversed())}
      </div>
      <h2>What was sent to Headroom</h2>
      <div id="deliveries" data-live class="scroll">${deliveryTable(world.webhooks.list().slice(0, shown))}</div>
      <h2>Start over</h2>
      <form method="post" action="/_reset">
        <p class="quiet">
          Deletes all messages, mails, issues, runs, sessions and faults here. Headroom keeps its own data.
        </p>
        <button class="danger">Forget everything here</button>
      </form>`,
  });
}

function faultList(world: World): Fragment {
  const rules = world.faults.list();
  const unheard = ({ provider, method }: FaultRule): boolean =>
    method !== undefined && world.requests.list({ provider, method }).length === 0;
  if (rules.length === 0) return html`<p>Nothing goes wrong on purpose.</p>`;
  return html`<ul class="list">
      ${rules.map(
        (rule) =>
          html`<li class="row">
            <span>
              <strong>${rule.provider}</strong>${rule.method !== undefined && html` <code>${rule.method}</code>`}
              ${kindWords[rule.kind]}${rule.probability !== undefined && `, in ${Math.round(rule.probability * 100)} of 100 calls`}${rule.times !== undefined && `, ${rule.times} ${rule.times === 1 ? "time" : "times"}`}
              <span class="quiet">(hit ${rule.hits} so far)</span>
              ${unheard(rule) && html`<br /><span class="quiet small">No call with this name has arrived yet: check that it is spelled as in the list below.</span>`}
            </span>
            <form class="tight" method="post" action="/_faults/remove">
              <input type="hidden" name="id" value="${rule.id}" />
              <button class="small">Remove<span class="visually-hidden"> the fault of ${rule.provider}</span></button>
            </form>
          </li>`,
      )}
    </ul>
    <form method="post" action="/_faults/remove">
      <input type="hidden" name="id" value="all" />
      <p><button class="small">Remove all</button></p>
    </form>`;
}

function faultForm(chosen: Readonly<Record<string, string>>): Html {
  const selected = (name: string, value: string): Fragment => chosen[name] === value && html`selected`;
  return html`<form class="paper" method="post" action="/_faults/add">
    <div class="row">
      <div>
        <label for="provider">Provider</label>
        <select id="provider" name="provider">
          ${providers.map((provider) => html`<option ${selected("provider", provider)}>${provider}</option>`)}
        </select>
      </div>
      <div>
        <label for="kind">What it does</label>
        <select id="kind" name="kind">
          ${faultKinds.map((kind) => html`<option value="${kind}" ${selected("kind", kind)}>${kindWords[kind]}</option>`)}
        </select>
      </div>
      <div>
        <label for="times">How often</label>
        <input
          id="times"
          name="times"
          inputmode="numeric"
          value="${chosen["times"] ?? "1"}"
          placeholder="until removed"
        />
      </div>
      <div>
        <label for="probability">In how many of 100</label>
        <input
          id="probability"
          name="probability"
          inputmode="numeric"
          value="${chosen["probability"]}"
          placeholder="all"
        />
      </div>
      <div>
        <label for="method">Only this method</label>
        <input id="method" name="method" value="${chosen["method"]}" placeholder="all" />
      </div>
      <div>
        <label for="ms">Late by (ms)</label>
        <input id="ms" name="ms" inputmode="numeric" value="${chosen["ms"]}" placeholder="until released" />
      </div>
      <button class="primary tight">Add the fault</button>
    </div>
  </form>`;
}

function requestTable(requests: readonly LoggedRequest[]): Fragment {
  if (requests.length === 0) return html`<p class="empty">Nothing yet.</p>`;
  return html`<table class="wide">
    <thead>
      <tr>
        <th scope="col">When</th>
        <th scope="col">Provider</th>
        <th scope="col">Call</th>
        <th scope="col">Came to</th>
      </tr>
    </thead>
    <tbody>
      ${requests.map(
        (each) =>
          html`<tr>
            <td class="nowrap">${time(each.at, "seconds")}</td>
            <td>${each.provider}</td>
            <td><code>${each.method}</code> <span class="quiet">${each.channel}</span></td>
            <td data-name="Came to">
              ${each.status ?? (each.effect === undefined ? "under way" : "no answer")}
              ${each.fault !== undefined && html`<span class="badge bad">${kindWords[each.fault]}</span>`}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

function deliveryTable(deliveries: readonly SentWebhook[]): Fragment {
  if (deliveries.length === 0) return html`<p class="empty">Nothing yet.</p>`;
  return html`<table class="wide">
    <thead>
      <tr>
        <th scope="col">When</th>
        <th scope="col">From</th>
        <th scope="col">What</th>
        <th scope="col">Headroom answered</th>
      </tr>
    </thead>
    <tbody>
      ${deliveries.map(
        (each) =>
          html`<tr>
            <td class="nowrap">${time(each.at, "seconds")}</td>
            <td>${each.provider}</td>
            <td>${each.title}</td>
            <td data-name="Headroom answered">
              ${each.tries.length === 0 ? "under way" : each.tries.map((arrival) => arrivalHtml(arrival))}
            </td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

export function arrivalHtml(arrival: SendResult): Html {
  if (arrival.kind === "timeout") return html`<span class="badge bad">too late</span> `;
  if (arrival.kind === "unreachable") return html`<span class="badge bad">not reached</span> `;
  const good = arrival.status >= 200 && arrival.status < 300;
  return html`<span class="badge ${good ? "good" : "bad"}">${arrival.status}</span> `;
}
