/**
 * Where providers send their webhooks: the body is passed on exactly as it came, because signatures are over the bytes.
 *
 * Owns: the addresses and when they are answered. Does not own: what a webhook means (the database), nor the schemes of signatures
 * (src/inbound, the database).
 */
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import type { Json } from "../../db/generated.gen.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import {
  receiveCallback,
  receiveGithub,
  receiveLinear,
  receivePostal,
  receiveSlack,
  receiveStripe,
} from "../../inbound/receive.ts";
import type { AppState } from "../app.ts";
import type { BackgroundWork } from "../background-work.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";
import type { Session } from "../auth/session.ts";
import type { RequestFacts } from "../database/gateway-database.ts";
import { singleCalls } from "../database/single-calls.ts";
import { callbackBytes, callbackResponse } from "../receive/callback.ts";
import {
  failureText,
  isResponseUrl,
  isSslCheck,
  meanwhile,
  sendLate,
  shapeOf,
  slackResponse,
  type SlackShape,
} from "../receive/slack.ts";

/** Slack waits three seconds, the way there and back included. */
const defaultAcknowledgeMs = 2_500;
const lateSendMs = 10_000;

/** With a purpose that no key has: it may verify and keep receipts, on nobody's behalf. */
const receiver: Session = { role: "service_role", claims: { role: "service_role", purpose: "receive" } };

export function webhookRoutes(dependencies: HttpDependencies, { backgroundWork }: AppState): RouteEntry[] {
  return [
    defineRoute({
      method: "POST",
      path: "/webhooks/slack",
      credentials: "signature",
      summary: "Slash commands, buttons, forms and events of Slack; verified by Slack's signature.",
      handler: (context) => answerSlack(dependencies, context, backgroundWork),
    }),
    defineRoute({
      method: "POST",
      path: "/webhooks/linear",
      credentials: "signature",
      summary: "Changes in Linear, which become notes on the request; verified by Linear's signature.",
      async handler(context) {
        const request = { ...context.facts, path: "/rpc/handle_linear_webhook" };
        const body = await textOf(context, request);
        return Response.json(await receiveLinear(context.calls({ request }), body));
      },
    }),
    defineRoute({
      method: "POST",
      path: "/webhooks/github",
      credentials: "signature",
      summary: "What GitHub tells of workflow runs, each kept once; verified by GitHub's signature.",
      async handler(context) {
        const request = { ...context.facts, path: "/rpc/handle_github_webhook" };
        const body = await textOf(context, request);
        return Response.json(await receiveGithub(context.calls({ request }), body));
      },
    }),
    callbackRoute,
    stripeRoute(dependencies),
    postalRoute(dependencies),
  ];
}

/** Anybody may send a large body, so it is not read before the headers look signed; a small one costs less than asking. */
const smallBodyBytes = 65_536;

/** The pre-request function refuses what is not signed, or too long ago, by the headers alone. */
async function requireHeaders(context: RouteContext, request: RequestFacts): Promise<void> {
  const announced = context.request.headers.get("content-length");
  if (announced === null || Number(announced) > smallBodyBytes) await context.run([], { request, readOnly: true });
}

async function textOf(context: RouteContext, request: RequestFacts): Promise<string> {
  await requireHeaders(context, request);
  return context.text();
}

function stripeRoute({ database }: HttpDependencies): RouteEntry {
  return defineRoute({
    method: "POST",
    path: "/webhooks/stripe",
    credentials: "signature",
    summary: "What Stripe tells of payments, refunds, disputes and subscriptions; verified by Stripe's signature.",
    async handler(context) {
      const request = { ...context.facts, path: "/rpc/handle_stripe_webhook" };
      await requireHeaders(context, request);
      const body = await context.bytes();
      const calls = singleCalls(database, receiver, { request, share: "stripe" });
      return callbackResponse(await receiveStripe(calls, { body, headers: request.headers }));
    },
  });
}

function postalRoute({ database }: HttpDependencies): RouteEntry {
  return defineRoute({
    method: "POST",
    path: "/webhooks/postal",
    credentials: "signature",
    summary: "Webhooks of Postal, each kept once; verified by its signature.",
    async handler(context) {
      const body = await context.bytes();
      const { headers } = context.facts;
      const kept = await receivePostal(singleCalls(database, receiver, { secrets: true }), { body, headers });
      return Response.json({ received: true, new: kept.new });
    },
  });
}

const callbackRoute = defineRoute({
  method: "POST",
  path: "/webhooks/provisioning",
  credentials: "signature",
  limits: { bodyBytes: callbackBytes, rate: { burst: 600, perSecond: 100 } },
  summary: "What runs of provisioning workflows report; verified by their signature. Answers whether the run goes on.",
  async handler(context) {
    const body = await context.text();
    const request = { ...context.facts, path: "/rpc/handle_provisioning_callback" };
    // One share for all of them: whose a callback is, only its signature tells, and anybody could invent names.
    const share = "callbacks";
    return callbackResponse(await receiveCallback(context.calls({ request, share }), body));
  },
});

async function answerSlack(
  dependencies: HttpDependencies,
  context: RouteContext,
  backgroundWork: BackgroundWork,
): Promise<Response> {
  const request = { ...context.facts, path: "/rpc/handle_slack_webhook" };
  const body = await textOf(context, request);
  // Slack checks the certificate now and then, without a signature; the request changes nothing.
  if (!context.request.headers.has("x-slack-signature") && isSslCheck(body)) return new Response(null, { status: 200 });

  const work = receiveSlack(context.calls({ request }), body).catch((error: unknown) =>
    orInWords(toHeadroomError(error), body, dependencies, context),
  );
  const outcome = await withTimeout(work, dependencies.webhooks?.acknowledgeMs ?? defaultAcknowledgeMs);
  if (outcome.kind === "done") return slackResponse(outcome.value);
  const shape = shapeOf(body);
  backgroundWork.add(followUp(dependencies, context, shape, work));
  return meanwhile(shape);
}

function orInWords(error: HeadroomError, body: string, { log }: HttpDependencies, { requestId }: RouteContext): Json {
  if (error.httpStatus < 500 || shapeOf(body).kind !== "command") throw error;
  log({ level: "error", event: "slack_command_failed", requestId, code: error.code, sqlState: error.sqlState });
  return failureText(error);
}

/** Waits for late work and sends its answer to the address that Slack gave. Never throws: its request is already answered. */
async function followUp(
  { log, webhooks }: HttpDependencies,
  { requestId }: RouteContext,
  { responseUrl }: SlackShape,
  work: Promise<Json>,
): Promise<void> {
  try {
    const answer = await work;
    if (responseUrl === undefined) return;
    if (!isResponseUrl(responseUrl, webhooks?.slackResponseUrls)) {
      log({ level: "warn", event: "slack_response_url_refused", requestId });
      return;
    }
    const status = await sendLate(responseUrl, answer, AbortSignal.timeout(lateSendMs));
    log({ level: status < 300 ? "info" : "warn", event: "slack_answered_late", requestId, status });
  } catch (error) {
    log({ level: "warn", event: "slack_late_answer_failed", requestId, code: toHeadroomError(error).code });
  }
}
