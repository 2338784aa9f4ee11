/**
 * The part of GitHub's REST API that dispatches workflows and reads their runs.
 *
 * Owns: the routes, the token, GitHub's refusals. Does not own: what happens to a run, or the page.
 */
import { Hono } from "hono";
import { z } from "zod";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import type { GithubPermission } from "../sample-data.ts";
import { tell } from "./outgoing.ts";
import { hasWorkflow, isBranch, lacks, type Place } from "./repositories.ts";
import { finish } from "./run-changes.ts";
import type { GithubRunner } from "./runner.ts";
import { runShape, workflowId, workflowShape } from "./shapes.ts";
import type { GithubState, WorkflowRun } from "./state.ts";

const maxInputs = 25;
const maxInputChars = 65_535;

const dispatchSchema = z.looseObject({
  ref: z.string().min(1),
  inputs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String)).optional(),
  return_run_details: z.boolean().optional(),
});
const runsQuery = z.object({
  event: z.string().optional(),
  branch: z.string().optional(),
  status: z.string().optional(),
  created: z.string().optional(),
  per_page: z.coerce.number().int().min(1).max(100).catch(30),
  page: z.coerce.number().int().min(1).catch(1),
});

export function githubRoutes(world: World, state: GithubState, runner: GithubRunner): Hono<SandboxEnv> {
  const all = new Hono<SandboxEnv>();
  all.get("/github/rate_limit", (context) =>
    answer(context, world, { provider: "github", method: "rateLimit", body: {} }, dialect, () =>
      authenticated(context, world) ? Response.json({ resources: {}, rate }) : said(401, "Bad credentials"),
    ),
  );
  const serve = serveFrom(world);
  const repository = all.basePath("/github/repos/:owner/:repo");
  repository.get("/contents/.github/workflows/:workflow", (context) =>
    serve(context, ["getContents", "contents=read"], context.req.query(), (place) =>
      readWorkflow(world, { ...place, workflow: context.req.param("workflow") }, context.req.query("ref")),
    ),
  );
  const routes = repository.basePath("/actions");
  routes.get("/workflows/:workflow", (context) =>
    serve(context, ["getWorkflow", "actions=read"], {}, (place) => {
      const workflow = context.req.param("workflow");
      return hasWorkflow(world, { ...place, workflow })
        ? Response.json(workflowShape(workflow))
        : said(404, "Not Found");
    }),
  );
  routes.post("/workflows/:workflow/dispatches", async (context) => {
    const body = await readJson(context);
    return serve(context, ["dispatch", "actions=write"], body, (place) =>
      dispatch(world, state, runner, { ...place, workflow: context.req.param("workflow"), body }),
    );
  });
  routes.get("/workflows/:workflow/runs", (context) =>
    serve(context, ["listRuns", "actions=read"], context.req.query(), (place) =>
      list(world, state, { ...place, workflow: context.req.param("workflow") }, context.req.query()),
    ),
  );
  routes.get("/runs", (context) =>
    serve(context, ["listRuns", "actions=read"], context.req.query(), (place) =>
      list(world, state, place, context.req.query()),
    ),
  );
  routes.get("/runs/:id", (context) =>
    serve(context, ["getRun", "actions=read"], {}, (place) =>
      withRun(state, place, context.req.param("id"), (run) => Response.json(runShape(world, run))),
    ),
  );
  const cancel = (context: SandboxContext, method: string, byForce: boolean): Promise<Response> =>
    serve(context, [method, "actions=write"], {}, (place) =>
      withRun(state, place, context.req.param("id") ?? "", (run) => {
        if (run.status === "completed") return said(409, "Cannot cancel a workflow run that is completed.");
        if (!runner.cancel(run, byForce) && (byForce || !state.slowToStop)) finish(world, state, run, "cancelled");
        return Response.json({}, { status: 202 });
      }),
    );
  routes.post("/runs/:id/cancel", (context) => cancel(context, "cancelRun", false));
  routes.post("/runs/:id/force-cancel", (context) => cancel(context, "forceCancelRun", true));
  return routes;
}

const rate = { limit: 5_000, used: 0, remaining: 5_000, reset: 0 };

type Serve = (
  context: SandboxContext,
  /** The call's name, and the permission that the token needs. */
  call: readonly [method: string, needs: GithubPermission],
  body: unknown,
  effect: (place: Place) => Response,
) => Promise<Response>;

function serveFrom(world: World): Serve {
  return (context, [method, needs], body, effect) => {
    const place = { owner: context.req.param("owner") ?? "", repo: context.req.param("repo") ?? "" };
    const channel = `${place.owner}/${place.repo}`;
    return answer(context, world, { provider: "github", method, channel, body }, dialect, () => {
      if (!authenticated(context, world)) return said(401, "Bad credentials");
      return lacks(world, place, needs) ? forbidden(needs) : effect(place);
    });
  };
}

function forbidden(needs: GithubPermission): Response {
  const headers = { "x-accepted-github-permissions": needs };
  return said(403, "Resource not accessible by personal access token", headers);
}

/** Of a file, only its existence is kept. */
function readWorkflow(world: World, wanted: Place & { readonly workflow: string }, ref = "main"): Response {
  if (!isBranch(ref)) return said(404, `No commit found for the ref ${ref}`);
  if (!hasWorkflow(world, wanted)) return said(404, "Not Found");
  const path = `.github/workflows/${wanted.workflow}`;
  return Response.json({ type: "file", name: wanted.workflow, path, size: 0, encoding: "base64", content: "" });
}

function dispatch(
  world: World,
  state: GithubState,
  runner: GithubRunner,
  wanted: Place & { readonly workflow: string; readonly body: unknown },
): Response {
  if (!hasWorkflow(world, wanted)) return said(404, "Not Found");
  const parsed = dispatchSchema.safeParse(wanted.body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return said(
      422,
      `Invalid request.\n\n${issue?.path.map(String).join(".") ?? "body"}: ${issue?.message ?? "invalid"}`,
    );
  }
  if (!isBranch(parsed.data.ref)) return said(422, `No ref found for: ${parsed.data.ref}`);
  const inputs = parsed.data.inputs ?? {};
  if (Object.keys(inputs).length > maxInputs) return said(422, `you may only define up to ${maxInputs} inputs`);
  if (JSON.stringify(inputs).length > maxInputChars) return said(422, "inputs are too large.");
  const { owner, repo, workflow } = wanted;
  const run = state.add({ owner, repo, workflow, ref: parsed.data.ref, inputs });
  tell(world, "requested", run);
  runner.add(run);
  if (parsed.data.return_run_details !== true) return new Response(null, { status: 204 });
  const shape = runShape(world, run);
  return Response.json({ workflow_run_id: run.id, run_url: shape["url"], html_url: shape["html_url"] });
}

function list(
  world: World,
  state: GithubState,
  place: Place & { readonly workflow?: string },
  query: Readonly<Record<string, string>>,
): Response {
  const wanted = runsQuery.parse(query);
  const created = wanted.created === undefined ? () => true : createdFilter(wanted.created);
  if (created === undefined) return said(422, `Invalid search query "created:${wanted.created}".`);
  const found = state.runs
    .filter(({ owner, repo }) => owner === place.owner && repo === place.repo)
    .filter(
      ({ workflow }) =>
        place.workflow === undefined || workflow === place.workflow || String(workflowId(workflow)) === place.workflow,
    )
    .filter(() => wanted.event === undefined || wanted.event === "workflow_dispatch")
    .filter(({ ref }) => wanted.branch === undefined || ref.replace(/^refs\/heads\//, "") === wanted.branch)
    .filter((run) => wanted.status === undefined || run.status === wanted.status || run.conclusion === wanted.status)
    .filter((run) => created(Date.parse(run.createdAt)))
    .toReversed();
  const start = (wanted.page - 1) * wanted.per_page;
  const page = found.slice(start, start + wanted.per_page);
  return Response.json({ total_count: found.length, workflow_runs: page.map((run) => runShape(world, run)) });
}

/** GitHub's search syntax for times: `>=T`, `<T`, `T..T`, `T..*`, or a day. */
function createdFilter(text: string): ((at: number) => boolean) | undefined {
  const span = /^(.+)\.\.(.+)$/.exec(text);
  if (span !== null) {
    const [from, to] = [span[1] ?? "", span[2] ?? ""].map((part, index) =>
      part === "*" ? (index === 0 ? -Infinity : Infinity) : Date.parse(part),
    );
    if (from === undefined || to === undefined || Number.isNaN(from) || Number.isNaN(to)) return undefined;
    return (at) => at >= from && at <= to;
  }
  const [, comparison = "", time = ""] = /^(>=|<=|>|<)?(.+)$/.exec(text) ?? [];
  const at = Date.parse(time);
  if (Number.isNaN(at)) return undefined;
  switch (comparison) {
    case ">=":
      return (each) => each >= at;
    case "<=":
      return (each) => each <= at;
    case ">":
      return (each) => each > at;
    case "<":
      return (each) => each < at;
    default:
      return (each) => each >= at && each < at + (time.includes("T") ? 1_000 : 86_400_000);
  }
}

function withRun(state: GithubState, place: Place, id: string, effect: (run: WorkflowRun) => Response): Response {
  const run = state.find(Number(id));
  return run === undefined || run.owner !== place.owner || run.repo !== place.repo
    ? said(404, "Not Found")
    : effect(run);
}

function authenticated(context: SandboxContext, world: World): boolean {
  const token = /^(?:Bearer|token) (.+)$/i.exec(context.req.header("authorization") ?? "")?.[1];
  const wanted = world.secrets.githubToken;
  return wanted === undefined ? token !== undefined : token === wanted;
}

async function readJson(context: SandboxContext): Promise<unknown> {
  try {
    return await context.req.json();
  } catch {
    return undefined;
  }
}

function said(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(
    { message, documentation_url: "https://docs.github.com/rest", status: String(status) },
    { status, headers },
  );
}

const dialect: Dialect = {
  failed: () => said(500, "Server Error"),
  rateLimited: (seconds) =>
    said(429, "You have exceeded a secondary rate limit.", {
      "retry-after": String(seconds),
      "x-ratelimit-remaining": "0",
    }),
  refused: (words) => said(422, words),
};
