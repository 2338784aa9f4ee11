/**
 * The self-service wizard: four steps in which anybody orders capacity that has a price.
 *
 * Owns: the path from a form to the database and back. Does not own: the words (pages/wizard/), what may be ordered and what a token is
 * worth (public.describe_draft, public.save_draft, public.submit_draft), nor the way to Stripe (pay/).
 *
 * The token in the address identifies the order, so that back, forward, reload and a second window all show the same one. GET
 * changes nothing. As with the customer's page, the address is not passed on, and a missing origin passes.
 */
import { z } from "zod";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { priceInWords } from "../pages/confirm/payment.ts";
import { canBePaid } from "../pages/confirm/story.ts";
import { localeOf } from "../pages/money.ts";
import { pageResponse, type Page } from "../pages/page.ts";
import { draftSchema, savedSchema, stepFields, type Draft, type StepNumber } from "../pages/wizard/draft.ts";
import { closedPage, outOfOrderPage, unknownDraftPage } from "../pages/wizard/refusals.ts";
import { mailedPage, reviewPage, sentPage, unpaidPage, type ReviewView } from "../pages/wizard/review.ts";
import { stepPage } from "../pages/wizard/steps.ts";
import { checkoutOrigins, checkoutSchema, sendToPay } from "../pay/checkout.ts";
import { readForm } from "../request/form.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";
import { provenanceOf } from "../../web/same-origin.ts";
import { describeOffer, linkOf, tokenShape } from "./confirm.ts";

const path = "/new/:workspace/:token/:step";
const defaultWorkspace = "default";

export function wizardRoutes(dependencies: HttpDependencies): RouteEntry[] {
  const begin = { credentials: "none", limits: { rate: { burst: 30, perSecond: 1 } }, errors: "page" } as const;
  return [
    defineRoute({
      method: "GET",
      path: "/new",
      ...begin,
      skipsDatabase: true,
      summary: "The self-service wizard of the workspace `default`.",
      handler: () => leadOn(`/new/${defaultWorkspace}`),
    }),
    defineRoute({
      method: "GET",
      path: "/new/:workspace",
      ...begin,
      summary: "The self-service wizard of a workspace: starts an order. Nothing is stored before its first step is.",
      handler: (context) => beginOrder(context),
    }),
    defineRoute({
      method: "GET",
      path,
      credentials: "none",
      limits: { rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "A step of an order in the wizard. Changes nothing.",
      handler: (context) => showStep(context, dependencies),
    }),
    defineRoute({
      method: "POST",
      path,
      credentials: "none",
      limits: { bodyBytes: 16_384, rate: { burst: 40, perSecond: 1 } },
      errors: "page",
      summary: "Keeps a step of an order, or sends the order: a form with the fields of the step and its revision.",
      handler: (context) => takeStep(context, dependencies),
    }),
  ];
}

export function stepPath(workspaceId: string, token: string, step: number): string {
  return `/new/${encodeURIComponent(workspaceId)}/${token}/${step}`;
}

function leadOn(location: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location, "referrer-policy": "no-referrer", "cache-control": "no-store" },
  });
}

interface Place {
  readonly workspaceId: string;
  readonly token: string;
  readonly step: StepNumber;
  /** The path of all steps of the order. */
  readonly base: string;
}

/** The order and step that the address names; undefined if it cannot be one. */
function placeOf({ params }: RouteContext): Place | undefined {
  const { workspace = "", token = "", step = "" } = params;
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(workspace) || !tokenShape.test(token) || !/^[1-4]$/.test(step))
    return undefined;
  return {
    workspaceId: workspace,
    token,
    step: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]).parse(Number(step)),
    base: `/new/${workspace}/${token}`,
  };
}

function answer(dependencies: HttpDependencies, status: number, page: Page): Promise<Response> {
  return pageResponse(page, { status, referrer: "no-referrer", formOrigins: checkoutOrigins(dependencies) });
}

function optionsOf(context: RouteContext, readOnly: boolean) {
  const request = { method: context.method, path, headers: {}, network: context.clientAddress };
  return { readOnly, request, secrets: true };
}

async function beginOrder(context: RouteContext): Promise<Response> {
  const workspace = context.params["workspace"] ?? "";
  try {
    const begun = await context.transaction(
      (client) => call(client, "public.begin_draft", { p_workspace_id: workspace.slice(0, 100).replaceAll("\0", "") }),
      optionsOf(context, true),
    );
    return leadOn(stepPath(workspace, draftSchema.parse(begun).token, 1));
  } catch (error) {
    if (!(error instanceof HeadroomError && error.code === "not_found")) throw error;
    return pageResponse(closedPage(), { status: 404 });
  }
}

function unknownOrder(place: Place | undefined): Promise<Response> {
  const newOrderPath = place === undefined ? "/new" : `/new/${place.workspaceId}`;
  return pageResponse(unknownDraftPage(newOrderPath), { status: 404, referrer: "no-referrer" });
}

/** The order; undefined if the token has none. */
async function describe(context: RouteContext, { workspaceId, token }: Place): Promise<Draft | undefined> {
  try {
    const story = await context.transaction(
      (client) => call(client, "public.describe_draft", { p_workspace_id: workspaceId, p_token: token }),
      optionsOf(context, true),
    );
    return draftSchema.parse(story);
  } catch (error) {
    if (error instanceof HeadroomError && error.code === "not_found") return undefined;
    throw error;
  }
}

async function showStep(context: RouteContext, dependencies: HttpDependencies): Promise<Response> {
  const place = placeOf(context);
  const draft = place && (await describe(context, place));
  if (place === undefined || draft === undefined) return unknownOrder(place);
  const { step, base } = place;
  if (draft.request !== null && draft.request !== undefined) return showSent(context, dependencies, place, draft);
  if (step > draft.step) return answer(dependencies, 409, outOfOrderPage(draft, base));
  const { searchParams } = context.url;
  const locale = localeOf(context.request);
  if (step === 4) {
    return answer(dependencies, 200, lastPage(draft, { base, locale, resent: searchParams.get("resent") === "1" }));
  }
  return answer(dependencies, 200, stepPage(draft, { step, base, locale }));
}

function lastPage(draft: Draft, view: ReviewView): Page {
  return draft.kind === "proof" ? reviewPage(draft, view) : mailedPage(draft, view);
}

/** The order was sent: it waits to be paid, is shown behind the customer's link, or is under review. */
async function showSent(
  context: RouteContext,
  dependencies: HttpDependencies,
  { step, base }: Place,
  draft: Draft,
  refused?: HeadroomError,
): Promise<Response> {
  if (step !== 4) return leadOn(`${base}/4`);
  const { link = null, state } = draft.request ?? {};
  if (link === null) return answer(dependencies, 200, sentPage(draft));
  const offer = state === "CUSTOMER_CONFIRMATION_REQUIRED" ? await describeOffer(context, link) : "unknown";
  const { searchParams } = context.url;
  if (typeof offer === "string" || offer.price === null || !canBePaid(offer)) return leadOn(linkOf(link));
  const locale = localeOf(context.request);
  const view = { base, locale, link: linkOf(link), price: priceInWords(offer.price, locale) };
  return answer(
    dependencies,
    refused?.httpStatus ?? 200,
    unpaidPage(draft, {
      ...view,
      cancelled: searchParams.get("cancelled") === "1",
      refused: refused && wordsOf(refused),
    }),
  );
}

async function takeStep(context: RouteContext, dependencies: HttpDependencies): Promise<Response> {
  if (provenanceOf(context.request, dependencies.publicUrl) === "foreign") {
    throw new HeadroomError("not_allowed", "This did not come from our own page. Nothing was changed.", {
      hint: "Open the order and continue there.",
    });
  }
  const place = placeOf(context);
  const form = await readForm(context);
  if (place === undefined) return unknownOrder(place);
  const { step } = place;
  if (step !== 4) return saveStep(context, dependencies, { ...place, step }, form);
  return form["action"] === "resend"
    ? sendLinkAgain(context, dependencies, place)
    : sendOrder(context, dependencies, place, form);
}

const revisionSchema = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number);

function revisionOf(form: Readonly<Record<string, string>>): number {
  const parsed = revisionSchema.safeParse(form["revision"]);
  if (parsed.success) return parsed.data;
  throw new HeadroomError("invalid_input", "This is not a form of the order. Nothing was changed.", {
    hint: "Open the order again and continue there.",
  });
}

async function saveStep(
  context: RouteContext,
  dependencies: HttpDependencies,
  place: Place & { readonly step: 1 | 2 | 3 },
  form: Readonly<Record<string, string>>,
): Promise<Response> {
  const { workspaceId, token, step, base } = place;
  const values = Object.fromEntries(stepFields[step].map((name) => [name, form[name] ?? ""]));
  const revision = revisionOf(form);
  try {
    const answered = await context.transaction(
      (client) =>
        call(client, "public.save_draft", {
          p_workspace_id: workspaceId,
          p_token: token,
          p_step: step,
          p_revision: revision,
          p_values: values,
        }),
      optionsOf(context, false),
    );
    const { outcome, draft } = savedSchema.parse(answered);
    // With another address the link in the earlier mail proves nothing any more, so we continue with the draft's own token.
    const onward = draft.kind === "proof" ? token : draft.token;
    if (outcome === "saved") return leadOn(stepPath(workspaceId, onward, draft.step === 4 ? 4 : step + 1));
    // A separate page with its own address shows the errors, so that back and reload do not resend the form.
    if (outcome === "invalid") return leadOn(`${base}/${step}`);
    return answer(dependencies, 409, stepPage(draft, { step, base, locale: localeOf(context.request), stale: values }));
  } catch (error) {
    return refuse(context, dependencies, place, error);
  }
}

async function sendLinkAgain(context: RouteContext, dependencies: HttpDependencies, place: Place): Promise<Response> {
  const { workspaceId, token, base } = place;
  try {
    await context.transaction(
      (client) => call(client, "public.send_draft_link", { p_workspace_id: workspaceId, p_token: token }),
      optionsOf(context, false),
    );
    return leadOn(`${base}/4?resent=1`);
  } catch (error) {
    return refuse(context, dependencies, place, error);
  }
}

const orderedSchema = z.object({ link: z.string().nullable(), checkout: checkoutSchema.nullable() });

async function sendOrder(
  context: RouteContext,
  dependencies: HttpDependencies,
  place: Place,
  form: Readonly<Record<string, string>>,
): Promise<Response> {
  const { workspaceId, token, base } = place;
  const revision = revisionOf(form);
  try {
    const answered = await context.transaction(
      (client) =>
        call(client, "public.submit_draft", {
          p_workspace_id: workspaceId,
          p_token: token,
          p_revision: revision,
          p_seen: (form["seen"] ?? "").slice(0, 200),
        }),
      optionsOf(context, false),
    );
    const { link, checkout } = orderedSchema.parse(answered);
    if (link === null || checkout === null) return leadOn(`${base}/4`);
    return await sendToPay(context, dependencies, checkout, { token: link, wizard: { workspaceId, token } });
  } catch (error) {
    return refuse(context, dependencies, place, error);
  }
}

/** Refusals that the step itself explains. All other errors are answered as usual. */
const explained = [
  "conflict",
  "stale_version",
  "too_soon",
  "not_allowed",
  "gone",
  "nobody_can_approve",
  "deadline_passed",
];

async function refuse(
  context: RouteContext,
  dependencies: HttpDependencies,
  place: Place,
  error: unknown,
): Promise<Response> {
  if (!(error instanceof HeadroomError)) throw error;
  if (error.code === "not_found") return unknownOrder(place);
  if (error.code === "already_used") return leadOn(`${place.base}/4`);
  if (!explained.includes(error.code)) throw error;
  const draft = await describe(context, place);
  if (draft === undefined) return unknownOrder(place);
  const { step, base } = place;
  if (draft.request !== null && draft.request !== undefined) {
    return showSent(context, dependencies, place, draft, error);
  }
  if (step > draft.step) return answer(dependencies, error.httpStatus, outOfOrderPage(draft, base));
  if (step !== 4) throw error;
  const view = { base, locale: localeOf(context.request), refused: wordsOf(error) };
  return answer(dependencies, error.httpStatus, lastPage(draft, view));
}

function wordsOf({ message, hint }: HeadroomError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}
