/**
 * Passes a run's callbacks on to Headroom unchanged, or loses them, as was chosen for the run. Faults can be planned for them like for any
 * call: provider `github`, method `callback.claim`, `callback.heartbeat`, `callback.succeeded` or `callback.failed`.
 */
import { Hono } from "hono";
import { z } from "zod";
import { answer, type Dialect, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import type { RunPlan } from "./run-plan.ts";
import type { GithubState, WorkflowRun } from "./state.ts";
import { parseUrl } from "../../db/parse-url.ts";

const timeoutMs = 10_000;
const passedOn = ["content-type", "x-headroom-timestamp", "x-headroom-signature"] as const;
const callbackSchema = z.object({ signal: z.enum(["claim", "heartbeat", "succeeded", "failed"]) });
type Signal = z.infer<typeof callbackSchema>["signal"];

/** The address that the script calls instead: this server, with the same path, because the form of a callback depends on it. */
export function callbackUrl(world: World, { id }: WorkflowRun): string {
  return `${world.url()}/github/callbacks/${id}${parseUrl(variableOf(world))?.pathname ?? "/"}`;
}

/** The repository's variable. The inputs of a run cannot override it, as in the workflow files. */
function variableOf({ secrets, webhooks }: World): string {
  return secrets.provisioningCallbackUrl ?? `${webhooks.headroomUrl ?? ""}/webhooks/provisioning`;
}

export function callbackRoutes(world: World, state: GithubState): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.post("/github/callbacks/:run/*", async (context) => {
    const run = state.find(Number(context.req.param("run")));
    const text = await context.req.text();
    const body = parseJson(text);
    const signal = callbackSchema.safeParse(body).data?.signal;
    const url = variableOf(world);
    if (run?.script === undefined || signal === undefined || !URL.canParse(url)) return said(404, "No run says this.");
    const call = {
      provider: "github",
      method: `callback.${signal}`,
      channel: `${run.owner}/${run.repo}`,
      body,
      onlyIfNamed: true,
    } as const;
    if (isLost(run.script.plan.loses, signal)) return said(504, "Lost on the way, on purpose.");
    const headers = Object.fromEntries(passedOn.map((name) => [name, context.req.header(name) ?? ""]));
    return answer(context, world, call, dialect, () => passOn(world, url, headers, text));
  });
  return routes;
}

function isLost(loses: RunPlan["loses"], signal: Signal): boolean {
  if (loses === "claims") return signal === "claim";
  if (loses === "results") return signal === "succeeded" || signal === "failed";
  return loses === "everything";
}

async function passOn(
  world: World,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Response> {
  try {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), world.closing]);
    const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    const answered = new Headers({ "content-type": response.headers.get("content-type") ?? "text/plain" });
    const retryAfter = response.headers.get("retry-after");
    if (retryAfter !== null) answered.set("retry-after", retryAfter);
    return new Response(await response.text(), { status: response.status, headers: answered });
  } catch {
    return said(502, "Headroom does not answer.");
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function said(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ message }, { status, headers });
}

const dialect: Dialect = {
  failed: () => said(500, "Failed on purpose."),
  rateLimited: (seconds) => said(429, "Asked for quiet on purpose.", { "retry-after": String(seconds) }),
  refused: (words) => said(422, words),
};
