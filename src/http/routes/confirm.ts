/**
 * The customer's page: GET shows the offer and changes nothing, POST answers it.
 *
 * Owns: the way from a link to the database and back. Does not own: the words (pages/confirm.ts), nor what a token is worth
 * (public.describe_confirmation and public.decide_by_token).
 *
 * The token in the address is the whole credential, so the address goes nowhere: not into the log, which has the route's pattern;
 * not to the database as the request's path; and no-referrer keeps it from other sites. Browsers then send `Origin: null` with our
 * own form too, so here an unsaid origin passes and only a foreign one is refused. That gives nothing away: a site that knew
 * the token could answer without its visitor's browser.
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { readForm } from "../request/form.ts";
import type { RequestFacts } from "../database/gateway-database.ts";
import {
  confirmationPage,
  confirmationSchema,
  mostReasonChars,
  unknownLinkPage,
  type Confirmation,
} from "../pages/confirm.ts";
import { pageResponse } from "../pages/page.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";
import { provenanceOf } from "../../web/same-origin.ts";

const path = "/confirm/:token";
const bodyBytes = 16_384;

const answerSchema = z.discriminatedUnion("decision", [
  z.object({ decision: z.literal("confirm"), reason: z.undefined().optional() }),
  z.object({ decision: z.literal("decline"), reason: z.string().optional() }),
]);
type CustomerAnswer = z.infer<typeof answerSchema>;

export function confirmRoutes(dependencies: HttpDependencies): RouteEntry[] {
  const now = dependencies.now ?? Date.now;
  return [
    defineRoute({
      method: "GET",
      path,
      credentials: "none",
      limits: { rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "The customer's page behind a confirmation link. Shows the offer and changes nothing.",
      handler: (context) => showOffer(context, now),
    }),
    defineRoute({
      method: "POST",
      path,
      credentials: "none",
      limits: { bodyBytes, rate: { burst: 20, perSecond: 1 } },
      errors: "page",
      summary:
        "The customer's answer: a form with decision (confirm or decline) and, for a refusal, an optional reason.",
      handler: (context) => answerOffer(context, dependencies.publicUrl, now),
    }),
  ];
}

/** What the database learns about the request. */
function factsOf(context: RouteContext): RequestFacts {
  return { method: context.method, path, headers: {} };
}

function linkOf(token: string): string {
  return `/confirm/${encodeURIComponent(token)}`;
}

/** The form of a token; whether it is valid is decided by the database. */
const tokenShape = /^[A-Za-z0-9_-]{64}$/;

/** The offer, or undefined when there is none behind the token. */
async function describe(context: RouteContext, token: string): Promise<Confirmation | undefined> {
  if (!tokenShape.test(token)) return undefined;
  try {
    const story = await context.transaction(
      (client) => call(client, "public.describe_confirmation", { p_token: token }),
      { readOnly: true, request: factsOf(context), secrets: true },
    );
    return confirmationSchema.parse(story);
  } catch (error) {
    if (error instanceof HeadroomError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function showOffer(context: RouteContext, now: () => number): Promise<Response> {
  const token = context.params["token"] ?? "";
  const offer = await describe(context, token);
  if (offer === undefined) return unknownLink();
  return pageResponse(confirmationPage(offer, linkOf(token), new Date(now())), {
    status: isOver(offer) ? 410 : 200,
    referrer: "no-referrer",
  });
}

function unknownLink(): Promise<Response> {
  return pageResponse(unknownLinkPage(), { status: 404, referrer: "no-referrer" });
}

function isOver({ status }: Confirmation): boolean {
  return status === "expired" || status === "cancelled" || status === "closed";
}

async function answerOffer(context: RouteContext, publicUrl: string, now: () => number): Promise<Response> {
  if (provenanceOf(context.request, publicUrl) === "foreign") {
    throw new HeadroomError("not_allowed", "The answer did not come from our own page. Nothing was changed.", {
      hint: "Open the link from the mail and answer there.",
    });
  }
  const token = context.params["token"] ?? "";
  const answer = parseAnswer(await readForm(context));
  if (!tokenShape.test(token)) return unknownLink();
  const refusal = await decide(context, token, answer);
  if (refusal === undefined) {
    // A redirect to the page, so that reloading it does not send the answer again.
    return new Response(null, { status: 303, headers: { location: linkOf(token), "referrer-policy": "no-referrer" } });
  }
  const offer = await describe(context, token);
  if (offer === undefined) return unknownLink();
  return pageResponse(confirmationPage(offer, linkOf(token), new Date(now()), refusal.message), {
    status: refusal.httpStatus,
    referrer: "no-referrer",
  });
}

function parseAnswer(form: Readonly<Record<string, string>>): CustomerAnswer {
  const parsed = answerSchema.safeParse(form);
  if (!parsed.success) {
    throw new HeadroomError(
      "invalid_input",
      "The answer must be either to confirm or to decline. Nothing was changed.",
      {
        hint: "Open the link from the mail and choose one of the two.",
      },
    );
  }
  if ((parsed.data.reason ?? "").length > mostReasonChars) {
    throw new HeadroomError(
      "invalid_input",
      `The reason is longer than ${mostReasonChars} characters. Nothing was changed.`,
      {
        hint: "Go back, shorten it, and send it again.",
      },
    );
  }
  return parsed.data;
}

/** Undefined when the answer was taken, now or before; otherwise why it was not. */
async function decide(
  context: RouteContext,
  token: string,
  { decision, reason }: CustomerAnswer,
): Promise<HeadroomError | undefined> {
  try {
    // Browsers send line ends as CR LF; the log keeps them as everything else does.
    const p_reason = reason === undefined ? undefined : reason.replaceAll("\r\n", "\n");
    await context.transaction(
      (client) => call(client, "public.decide_by_token", { p_token: token, p_decision: decision, p_reason }),
      { request: factsOf(context), secrets: true },
    );
    return undefined;
  } catch (error) {
    if (error instanceof HeadroomError && ["already_used", "gone", "not_found"].includes(error.code)) return error;
    throw error;
  }
}
