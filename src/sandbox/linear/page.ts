/**
 * The Linear page: issues with their state, description and comments; commenting and moving send the webhooks that Linear would send.
 */
import { Hono } from "hono";
import { z } from "zod";
import { html } from "hono/html";
import type { SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import type { World } from "../core/world.ts";
import { afterForm } from "../pages/form-result.ts";
import { page, seeOther, time, type Fragment, type Html } from "../pages/layout.ts";
import type { LinearUserActions } from "./user-actions.ts";
import { markdown } from "./markdown.ts";
import type { Issue, LinearState } from "./state.ts";

const formSchema = z.object({
  issue: z.string(),
  person: z.string(),
  body: z.string().max(10_000).optional(),
  state: z.string().optional(),
});
const maxShown = 100;

export function linearPages(world: World, state: LinearState, userActions: LinearUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/linear", () => listPage(state));
  routes.get("/linear/issue/:id", (context) => {
    const issue = state.findIssue(context.req.param("id"));
    return issue === undefined ? gonePage() : issuePage(world, state, issue, context.req.query("as"));
  });
  routes.post("/linear/act/comment", (context) =>
    afterForm(async () => {
      const { issue, person, body = "" } = formSchema.parse(await readForm(context));
      if (body.trim() !== "") await userActions.comment({ issue, person, body });
      return back(issue, person);
    }),
  );
  routes.post("/linear/act/move", (context) =>
    afterForm(async () => {
      const { issue, person, state: to = "" } = formSchema.parse(await readForm(context));
      await userActions.move({ issue, person, state: to });
      return back(issue, person);
    }),
  );
  return routes;
}

function back(issue: string, person: string): Response {
  return seeOther(`/linear/issue/${encodeURIComponent(issue)}?${new URLSearchParams({ as: person }).toString()}`);
}

function listPage(state: LinearState): Promise<Response> {
  const issues = [...state.issues.values()].toReversed().slice(0, maxShown);
  return page({
    title: "Linear",
    current: "/linear",
    body: html`<h1>Issues</h1>
      <div id="issues" data-live class="scroll">
        ${
          issues.length === 0
            ? html`<p class="empty">No issue yet. A request makes one when its workspace names a Linear team.</p>`
            : html`<table class="wide">
                <thead>
                  <tr>
                    <th scope="col">Issue</th>
                    <th scope="col">Title</th>
                    <th scope="col">State</th>
                    <th scope="col">Changed</th>
                  </tr>
                </thead>
                <tbody>
                  ${issues.map(
                    (issue) =>
                      html`<tr>
                        <td class="nowrap"><a href="/linear/issue/${issue.identifier}">${issue.identifier}</a></td>
                        <td>${issue.title}</td>
                        <td data-name="State">${stateBadge(state, issue)}</td>
                        <td class="nowrap" data-name="Changed">${time(issue.updatedAt)}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>`
        }
      </div>`,
  });
}

function stateBadge(state: LinearState, issue: Issue): Html {
  const current = state.stateOf(issue);
  const mood = current?.type === "completed" ? "good" : current?.type === "canceled" ? "bad" : "";
  return html`<span class="badge ${mood}">${current?.name ?? "?"}</span>`;
}

function issuePage(world: World, state: LinearState, issue: Issue, as: string | undefined): Promise<Response> {
  const comments = state.commentsOf(issue.id);
  return page({
    title: `${issue.identifier} ${issue.title}`,
    current: "/linear",
    body: html`<p><a href="/linear">All issues</a></p>
      <h1>${issue.identifier}: ${issue.title}</h1>
      <div id="issue" data-live>
        <p>${stateBadge(state, issue)} <span class="quiet">changed ${time(issue.updatedAt)}</span></p>
        <div class="paper">${markdown(issue.description ?? "No description.")}</div>
        <h2>Comments</h2>
        ${comments.length === 0 && html`<p class="quiet">None yet.</p>`}
        <ul class="list">
          ${comments.map(
            (comment) =>
              html`<li class="paper">
                <p class="small">
                  <strong>${comment.user.name}</strong> <span class="quiet">${time(comment.createdAt)}</span>
                </p>
                ${markdown(comment.body)}
              </li>`,
          )}
        </ul>
      </div>
      <h2>Act</h2>
      <form class="paper" method="post" action="/linear/act/comment">
        <input type="hidden" name="issue" value="${issue.identifier}" />
        ${personField(world, as, "commenter")}
        <div class="field"><label for="body">Comment</label><textarea id="body" name="body" required></textarea></div>
        <button class="primary">Comment</button>
      </form>
      <form class="paper" method="post" action="/linear/act/move">
        <input type="hidden" name="issue" value="${issue.identifier}" />
        ${personField(world, as, "mover")}
        <div class="field">
          <label for="state">Move to</label>
          <select id="state" name="state">
            ${state.states.map(
              (each) =>
                html`<option value="${each.id}" ${each.id === issue.stateId && html`selected`}>${each.name}</option>`,
            )}
          </select>
        </div>
        <button>Move</button>
      </form>`,
  });
}

function personField(world: World, as: string | undefined, id: string): Fragment {
  return html`<div class="field">
    <label for="${id}">As</label>
    <select id="${id}" name="person">
      ${world.sampleData.people.map(
        (person) =>
          html`<option value="${person.memberId}" ${person.memberId === as && html`selected`}>
            ${person.name}, ${person.title}
          </option>`,
      )}
    </select>
  </div>`;
}

function gonePage(): Promise<Response> {
  return page({
    title: "No such issue",
    current: "/linear",
    status: 404,
    body: html`<h1>There is no such issue</h1>
      <p>The sandbox deletes its issues when it is reset. <a href="/linear">All issues</a></p>`,
  });
}
