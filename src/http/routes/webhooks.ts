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
import { defineRoute, type RouteContext, type RouteEntry, type RouteLimits } from "../route.ts";
import type { Session } from "../auth/session.ts";
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

/** Its purpose belongs to no key: it may verify and keep receipts, but acts for nobody. */
const receiver: Session = { role: "service_role", claims: { role: "service_role", purpose: "receive" } };

export function webhookRoutes(dependencies: HttpDependencies, { backgroundWork }: AppState): RouteEntry[] {
  const { database } = dependencies;
  return [
    receive("slack", {
      summary: "Slash commands, buttons, forms and events of Slack; verified by Slack's signature.",
      answer: (context) => answerSlack(dependencies, context, backgroundWork),
    }),
    receive("linear", {
      summary: "Changes in Linear, which become notes on the request; verified by Linear's signature.",
      answer: async (context) =>
        Response.json(await receiveLinear(context.calls({ secrets: true }), await context.text())),
    }),
    receive("github", {
      summary: "What GitHub tells of workflow runs, each kept once; verified by GitHub's signature.",
      answer: async (context) =>
        Response.json(await receiveGithub(context.calls({ secrets: true }), await context.text())),
    }),
    receive("provisioning", {
      limits: { bodyBytes: callbackBytes, rate: { burst: 600, perSecond: 100 } },
      summary:
        "What runs of provisioning workflows report; verified by their signature. Answers whether the run goes on.",
      // One share for all of them: only its signature tells whose a callback is, and anybody could invent names.
      answer: async (context) =>
        callbackResponse(
          await receiveCallback(context.calls({ secrets: true, share: "callbacks" }), await context.text()),
        ),
    }),
    receive("stripe", {
      summary: "What Stripe tells of payments, refunds, disputes and subscriptions; verified by Stripe's signature.",
      async answer(context) {
        const { facts: request } = context;
        const calls = singleCalls(database, receiver, { request, secrets: true, share: "stripe" });
        return callbackResponse(await receiveStripe(calls, { body: await context.bytes(), headers: request.headers }));
      },
    }),
    receive("postal", {
      summary: "Webhooks of Postal, each kept once; verified by its signature.",
      async answer(context) {
        const { facts: request } = context;
        const calls = singleCalls(database, receiver, { request, secrets: true });
        const kept = await receivePostal(calls, { body: await context.bytes(), headers: request.headers });
        return Response.json({ received: true, new: kept.new });
      },
    }),
  ];
}

/** Anybody may send a large body, so it is not read until the headers look signed. A small one costs less than that check. */
const smallBodyBytes = 65_536;

interface Receiver {
  readonly summary: string;
  readonly limits?: RouteLimits;
  readonly answer: (context: RouteContext) => Promise<Response>;
}

/** The pre-request function knows the path, and refuses by the headers alone requests that are unsigned or were signed too long ago. */
function receive(name: string, { summary, limits, answer }: Receiver): RouteEntry {
  return defineRoute({
    method: "POST",
    path: `/webhooks/${name}`,
    credentials: "signature",
    limits,
    summary,
    async handler(context) {
      const announced = context.request.headers.get("content-length");
      if (announced === null || Number(announced) > smallBodyBytes) await context.run([], { readOnly: true });
      return answer(context);
    },
  });
}

async function answerSlack(
  dependencies: HttpDependencies,
  context: RouteContext,
  backgroundWork: BackgroundWork,
): Promise<Response> {
  const body = await context.text();
  // Slack checks the certificate from time to time, without a signature; the request changes nothing.
  if (!context.request.headers.has("x-slack-signature") && isSslCheck(body)) return new Response(null, { status: 200 });

  const work = receiveSlack(context.calls({ secrets: true }), body).catch((error: unknown) =>
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

/** Waits for late work and sends the answer to the address that Slack gave. Never throws: its request is already answered. */
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
