/**
 * The GitHub pages: all runs of workflows, and one run with its output. Runs of our own workflows are executed, and their outcome is
 * chosen here.
 */
import { Hono } from "hono";
import { z } from "zod";
import { html } from "hono/html";
import type { SandboxEnv } from "../core/exchange.ts";
import { readForm } from "../core/form.ts";
import { afterForm } from "../pages/form-result.ts";
import { page, seeOther, time, type Fragment, type Html } from "../pages/layout.ts";
import { planForm, planFields } from "./plan-form.ts";
import type { GithubUserActions } from "./user-actions.ts";
import type { StepView, WorkflowRun } from "./state.ts";

const runId = z.coerce.number().int();
const outcomeForm = z.object({
  run: runId,
  outcome: z.enum(["begin", "success", "failure", "cancelled", "timed_out"]),
});
const actionForm = z.object({ run: runId, what: z.enum(["cancel", "force", "rerun"]) });
const maxShown = 100;

export function githubPages(userActions: GithubUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/github", (context) => {
    const wanted = context.req.query("run");
    if (wanted === undefined) return runsPage(userActions);
    return afterForm(() => runPage(userActions.run(Number(wanted))));
  });
  routes.post("/github/act/outcome", (context) =>
    afterForm(async () => {
      const { run, outcome } = outcomeForm.parse(await readForm(context));
      if (outcome === "begin") userActions.begin(run);
      else userActions.finish(run, outcome);
      return seeOther("/github");
    }),
  );
  routes.post("/github/act/run", (context) =>
    afterForm(async () => {
      const { run, what } = actionForm.parse(await readForm(context));
      if (what === "rerun") userActions.rerun(run);
      else userActions.cancel(run, { force: what === "force" });
      return seeOther(pathOf({ id: run }));
    }),
  );
  routes.post("/github/act/plan", (context) =>
    afterForm(async () => {
      const { run, ...plan } = planForm.parse(await readForm(context));
      if (run === undefined) userActions.planNext(plan);
      else userActions.plan(run, plan);
      return seeOther(run === undefined ? "/github" : pathOf({ id: run }));
    }),
  );
  return routes;
}

const pathOf = ({ id }: Pick<WorkflowRun, "id">): string => `/github?run=${id}`;

function runsPage(userActions: GithubUserActions): Promise<Response> {
  const runs = userActions.runs().toReversed().slice(0, maxShown);
  return page({
    title: "GitHub",
    current: "/github",
    body: html`<h1>Workflow runs</h1>
      <p class="quiet">
        Runs of <code>provision.yml</code> and <code>cleanup.yml</code> are executed: the script that you would put into
        your repository runs here, as a process. Of other workflows nothing is executed, and you decide how each run
        ends.
      </p>
      <div id="plan" data-live>
        <h2>How the next runs go</h2>
        <form class="paper" method="post" action="/github/act/plan">
          ${planFields(userActions.nextPlan(), true)}
          <button class="primary">Use it for the next runs</button>
        </form>
      </div>
      <div id="runs" data-live>
        <h2>Runs</h2>
        ${runs.length === 0 && html`<p class="empty">No run yet. Headroom starts one when a customer has confirmed.</p>`}
        ${runs.map(
          (run) =>
            html`<article class="paper" aria-label="${run.title}">
              <h3><a href="${pathOf(run)}">${run.title}</a> ${badge(run)}</h3>
              ${facts(run)} ${steps(run)} ${buttons(run)}
            </article>`,
        )}
      </div>`,
  });
}

function runPage(run: WorkflowRun): Promise<Response> {
  const { script } = run;
  return page({
    title: run.title,
    current: "/github",
    body: html`<p><a href="/github">All runs</a></p>
      <div id="run" data-live>
        <h1>${run.title} ${badge(run)}</h1>
        ${facts(run)} ${steps(run)}
      </div>
      <div id="actions" data-live>${buttons(run)}</div>
      <div id="plan" data-live>
        ${
          script !== undefined &&
          run.status !== "completed" &&
          html`<h2>How it goes on</h2>
            <form class="paper" method="post" action="/github/act/plan">
              <input type="hidden" name="run" value="${run.id}" />
              ${planFields(script.plan, false)}
              <button>Use it for this run</button>
            </form>`
        }
      </div>
      <h2>Inputs</h2>
      <div class="scroll">
        <table>
          <tbody>
            ${Object.entries(run.inputs).map(
              ([name, value]) =>
                html`<tr>
                  <th scope="row" class="nowrap">${name}</th>
                  <td><code>${value}</code></td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      <div id="log" data-live>
        ${
          script !== undefined &&
          html`<h2>What it printed</h2>
            ${log(script.log)}`
        }
      </div>`,
  });
}

function log(lines: readonly string[]): Html {
  return lines.length === 0
    ? html`<p class="quiet">Nothing yet.</p>`
    : html`<pre class="paper">${lines.join("\n")}</pre>`;
}

function facts(run: WorkflowRun): Html {
  return html`<p class="quiet small">
    ${run.owner}/${run.repo}, ${run.workflow} on ${run.ref}, run
    ${run.id}${run.runAttempt > 1 && `, attempt ${run.runAttempt}`}, ${time(run.createdAt)}
  </p>`;
}

const stepWords: Readonly<Record<StepView["state"], readonly [words: string, mood: string]>> = {
  waits: ["waits", ""],
  runs: ["running", "now"],
  done: ["done", "good"],
  failed: ["failed", "bad"],
  skipped: ["skipped", ""],
};

function steps({ script }: WorkflowRun): Fragment {
  if (script === undefined || script.steps.length === 0) return null;
  return html`<ol class="steps">
    ${script.steps.map(({ name, state }) => {
      const [words, mood] = stepWords[state];
      return html`<li>${name} <span class="badge ${mood}">${words}</span></li>`;
    })}
  </ol>`;
}

function buttons(run: WorkflowRun): Fragment {
  const form = (action: string, all: Fragment): Html =>
    html`<form class="buttons" method="post" action="/github/act/${action}">
      <input type="hidden" name="run" value="${run.id}" />${all}
    </form>`;
  if (run.status === "completed")
    return form("run", html`<button class="small" name="what" value="rerun">Re-run</button>`);
  if (run.script !== undefined)
    return form(
      "run",
      html`<button class="small danger" name="what" value="cancel">Cancel</button>
        <button class="small danger" name="what" value="force">Force cancel</button>`,
    );
  return form(
    "outcome",
    html`${run.status === "queued" && html`<button name="outcome" value="begin">Begin</button>`}
      <button class="primary" name="outcome" value="success">Succeed</button>
      <button class="danger" name="outcome" value="failure">Fail</button>
      <button name="outcome" value="timed_out">Time out</button>`,
  );
}

function badge(run: WorkflowRun): Fragment {
  const mood = run.conclusion === "success" ? "good" : run.conclusion === null ? "" : "bad";
  return html`<span class="badge ${mood}">${run.conclusion ?? run.status.replace("_", " ")}</span>`;
}
