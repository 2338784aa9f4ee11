/**
 * The GitHub page: runs of workflows, and what is to become of them.
 */
import { Hono } from "hono";
import { z } from "zod";
import { html } from "hono/html";
import type { SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import { afterForm } from "../pages/form-result.ts";
import { page, seeOther, time, type Fragment, type Html } from "../pages/layout.ts";
import type { GithubUserActions } from "./user-actions.ts";
import type { WorkflowRun } from "./state.ts";

const formSchema = z.object({
  run: z.coerce.number().int(),
  outcome: z.enum(["begin", "success", "failure", "cancelled", "timed_out"]),
});
const maxShown = 100;

export function githubPages(userActions: GithubUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/github", () => runsPage(userActions));
  routes.post("/github/act/outcome", (context) =>
    afterForm(async () => {
      const { run, outcome } = formSchema.parse(await readForm(context));
      if (outcome === "begin") userActions.begin(run);
      else userActions.finish(run, outcome);
      return seeOther("/github");
    }),
  );
  return routes;
}

function runsPage(userActions: GithubUserActions): Promise<Response> {
  const runs = userActions.runs().toReversed().slice(0, maxShown);
  return page({
    title: "GitHub",
    current: "/github",
    body: html`<h1>Workflow runs</h1>
      <p class="quiet">
        Nothing is executed here: you decide how each run ends. The webhook about it is signed and sent to Headroom.
      </p>
      <div id="runs" data-live>
        ${runs.length === 0 && html`<p class="empty">No run yet. Headroom does not dispatch any by itself in this release; send rows of your own on the rail <code>github-actions</code>.</p>`}
        ${runs.map(runHtml)}
      </div>`,
  });
}

function runHtml(run: WorkflowRun): Html {
  const inputs = Object.entries(run.inputs);
  return html`<article class="paper" aria-label="${run.title}">
    <h3>${run.title} ${badge(run)}</h3>
    <p class="quiet small">
      ${run.owner}/${run.repo}, ${run.workflow} on ${run.ref}, run ${run.id}, ${time(run.createdAt)}
    </p>
    ${
      inputs.length > 0 &&
      html`<div class="scroll">
        <table>
          <tbody>
            ${inputs.map(
              ([name, value]) =>
                html`<tr>
                  <th scope="row">${name}</th>
                  <td><code>${value}</code></td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    }
    ${
      run.status !== "completed" &&
      html`<form class="buttons" method="post" action="/github/act/outcome">
        <input type="hidden" name="run" value="${run.id}" />
        ${run.status === "queued" && html`<button name="outcome" value="begin">Begin</button>`}
        <button class="primary" name="outcome" value="success">Succeed</button>
        <button class="danger" name="outcome" value="failure">Fail</button>
        <button name="outcome" value="timed_out">Time out</button>
      </form>`
    }
  </article>`;
}

function badge(run: WorkflowRun): Fragment {
  const mood = run.conclusion === "success" ? "good" : run.conclusion === null ? "" : "bad";
  return html`<span class="badge ${mood}">${run.conclusion ?? run.status.replace("_", " ")}</span>`;
}
