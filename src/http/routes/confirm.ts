/**
 * The customer's page: GET shows the offer and its state and changes nothing. POST answers it, by paying if it has a price.
 *
 * Owns: the path from a link to the database and back. Does not own: the words (pages/confirm/), the way to Stripe (pay/), nor what a token
 * is worth (public.describe_confirmation, public.decide_by_token and public.begin_checkout).
 *
 * The token in the address is the whole credential, so the address is not passed on: not to the log, which has the route's pattern;
 * not to the database as the request's path; and no-referrer keeps it from other sites. Browsers then send `Origin: null` with our
 * own form too, so here a missing origin passes and only a foreign one is refused. That gives nothing away: a site that knew
 * the token could answer without its visitor's browser.
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { readForm } from "../request/form.ts";
import type { RequestFacts } from "../database/gateway-database.ts";
import { unknownLinkPage, unreadableLinkPage } from "../pages/confirm/around.ts";
import { confirmationPage, maxReasonChars } from "../pages/confirm/page.ts";
import { confirmationSchema, isOver, type Confirmation } from "../pages/confirm/story.ts";
import { localeOf } from "../pages/money.ts";
import { pageResponse, type Page } from "../pages/page.ts";
import { checkoutOrigins, checkoutSchema, sendToPay, type Checkout } from "../pay/checkout.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";
import { provenanceOf } from "../../web/same-origin.ts";

const path = "/confirm/:token";
/** The longest reason, of characters that take three bytes, which a form encodes as nine. */
const bodyBytes = 32_768;

const answerSchema = z.discriminatedUnion("decision", [
  z.object({ decision: z.literal("confirm"), reason: z.undefined().optional() }),
  z.object({ decision: z.literal("pay"), reason: z.undefined().optional() }),
  z.object({ decision: z.literal("decline"), reason: z.string().optional() }),
]);
type CustomerAnswer = z.infer<typeof answerSchema>;

export function confirmRoutes(dependencies: HttpDependencies): RouteEntry[] {
  return [
    defineRoute({
      method: "GET",
      path,
      credentials: "none",
      limits: { rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "The customer's page behind a confirmation link. Shows the offer and its state, and changes nothing.",
      handler: (context) => showOffer(context, dependencies),
    }),
    defineRoute({
      method: "POST",
      path,
      credentials: "none",
      limits: { bodyBytes, rate: { burst: 20, perSecond: 1 } },
      errors: "page",
      summary:
        "The customer's answer: a form with decision (confirm, pay or decline) and, for a refusal, an optional reason.",
      handler: (context) => answerOffer(context, dependencies),
    }),
  ];
}

/** What the database is told about the request. */
function factsOf(context: RouteContext): RequestFacts {
  return { method: context.method, path, headers: {} };
}

export function linkOf(token: string): string {
  return `/confirm/${encodeURIComponent(token)}`;
}

/** The form of a token; whether it is valid is decided by the database. */
export const tokenShape = /^[A-Za-z0-9_-]{64}$/;

/** The offer; or `unknown` if the token has none, or `unreadable` if it can no longer be read. */
export async function describeOffer(
  context: RouteContext,
  token: string,
): Promise<Confirmation | "unknown" | "unreadable"> {
  if (!tokenShape.test(token)) return "unknown";
  try {
    const story = await context.transaction(
      (client) => call(client, "public.describe_confirmation", { p_token: token }),
      { readOnly: true, request: factsOf(context), secrets: true },
    );
    return confirmationSchema.parse(story);
  } catch (error) {
    if (error instanceof HeadroomError && error.code === "not_found") return "unknown";
    if (error instanceof HeadroomError && error.code === "gone") return "unreadable";
    throw error;
  }
}

async function showOffer(context: RouteContext, dependencies: HttpDependencies): Promise<Response> {
  const token = context.params["token"] ?? "";
  const offer = await describeOffer(context, token);
  if (typeof offer === "string") return noOffer(offer);
  const { searchParams } = context.url;
  return offerResponse(dependencies, isOver(offer) ? 410 : 200, {
    ...confirmationPage(offer, {
      path: linkOf(token),
      now: new Date((dependencies.now ?? Date.now)()),
      locale: localeOf(context.request),
      returned: searchParams.get("returned") === "1",
      cancelled: searchParams.get("cancelled") === "1",
      still: searchParams.get("refresh") === "off",
    }),
  });
}

function offerResponse(dependencies: HttpDependencies, status: number, page: Page): Promise<Response> {
  return pageResponse(page, { status, referrer: "no-referrer", formOrigins: checkoutOrigins(dependencies) });
}

export function noOffer(why: "unknown" | "unreadable"): Promise<Response> {
  return why === "unknown"
    ? pageResponse(unknownLinkPage(), { status: 404, referrer: "no-referrer" })
    : pageResponse(unreadableLinkPage(), { status: 410, referrer: "no-referrer" });
}

async function answerOffer(context: RouteContext, dependencies: HttpDependencies): Promise<Response> {
  if (provenanceOf(context.request, dependencies.publicUrl) === "foreign") {
    throw new HeadroomError("not_allowed", "The answer did not come from our own page. Nothing was changed.", {
      hint: "Open the link from the mail and answer there.",
    });
  }
  const token = context.params["token"] ?? "";
  const answer = parseAnswer(await readForm(context));
  if (!tokenShape.test(token)) return noOffer("unknown");
  const taken = await take(context, token, answer);
  if (taken === "answered") {
    // A redirect to the page, so that reloading it does not send the answer again.
    return new Response(null, { status: 303, headers: { location: linkOf(token), "referrer-policy": "no-referrer" } });
  }
  if (!(taken instanceof HeadroomError)) return sendToPay(context, dependencies, taken, { token });
  const offer = await describeOffer(context, token);
  if (typeof offer === "string") return noOffer(offer);
  const view = {
    path: linkOf(token),
    now: new Date((dependencies.now ?? Date.now)()),
    locale: localeOf(context.request),
    refused: [taken.message, answer.decision === "pay" ? taken.hint : undefined].filter(Boolean).join(" "),
  };
  return offerResponse(dependencies, taken.httpStatus, confirmationPage(offer, view));
}

function parseAnswer(form: Readonly<Record<string, string>>): CustomerAnswer {
  const parsed = answerSchema.safeParse(form);
  if (!parsed.success) {
    throw new HeadroomError(
      "invalid_input",
      "The answer must be either to confirm, to pay or to decline. Nothing was changed.",
      {
        hint: "Open the link from the mail and choose one of them.",
      },
    );
  }
  if ((parsed.data.reason ?? "").length > maxReasonChars) {
    throw new HeadroomError(
      "invalid_input",
      `The reason is longer than ${maxReasonChars} characters. Nothing was changed.`,
      {
        hint: "Go back, shorten it, and send it again.",
      },
    );
  }
  return parsed.data;
}

/** Refusals that the page explains next to the offer, which shows the current state. */
const explained = [
  "already_used",
  "gone",
  "not_found",
  "payment_due",
  "conflict",
  "deadline_passed",
  "invalid_transition",
];

/** Answered, now or before; or how to pay; or why the answer was not accepted. */
async function take(
  context: RouteContext,
  token: string,
  { decision, reason }: CustomerAnswer,
): Promise<"answered" | Checkout | HeadroomError> {
  try {
    const options = { request: factsOf(context), secrets: true };
    if (decision === "pay") {
      const begun = await context.transaction(
        (client) => call(client, "public.begin_checkout", { p_token: token, p_entrance: "link" }),
        options,
      );
      return checkoutSchema.parse(begun);
    }
    await context.transaction(
      (client) => call(client, "public.decide_by_token", { p_token: token, p_decision: decision, p_reason: reason }),
      options,
    );
    return "answered";
  } catch (error) {
    if (error instanceof HeadroomError && explained.includes(error.code)) return error;
    throw error;
  }
}
