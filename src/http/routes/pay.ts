/**
 * Routes around paying: the page that waits for Stripe's page, and the address to which Stripe sends customers back.
 *
 * Owns: where a browser goes next. Does not own: the checkout (the database), nor the offer's page (confirm.ts). Both only read.
 */
import { z } from "zod";
import type { HttpDependencies } from "../dependencies.ts";
import { canBePaid } from "../pages/confirm/story.ts";
import { comeBackPage, notPreparedPage, preparingPage, stillPreparingPage } from "../pages/confirm/around.ts";
import { pageResponse, type Page } from "../pages/page.ts";
import { checkoutOrigins, isCheckoutUrl, newestCheckout, wrongAddress } from "../pay/checkout.ts";
import { readReturn } from "../pay/return-cookie.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";
import { describeOffer, linkOf, noOffer } from "./confirm.ts";
import { stepPath } from "./wizard.ts";

/** How often the page asks again before it gives up: every three seconds for about two minutes. */
const maxTries = 40;

export function payRoutes(dependencies: HttpDependencies): RouteEntry[] {
  return [
    defineRoute({
      method: "GET",
      path: "/confirm/:token/pay",
      credentials: "none",
      limits: { rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "Waits for Stripe's page, and leads on to it. Changes nothing.",
      handler: (context) => awaitCheckout(context, dependencies),
    }),
    defineRoute({
      method: "GET",
      path: "/paid/:checkout",
      credentials: "none",
      errors: "page",
      summary:
        "Where Stripe sends customers back to. Leads on to the customer's page by a cookie, and reveals nothing without.",
      handler: (context) => comeBack(context, dependencies),
    }),
  ];
}

async function awaitCheckout(context: RouteContext, dependencies: HttpDependencies): Promise<Response> {
  const token = context.params["token"] ?? "";
  const offer = await describeOffer(context, token);
  if (typeof offer === "string") return noOffer(offer);
  const checkout = canBePaid(offer) ? await newestCheckout(context, token) : undefined;
  const link = linkOf(token);
  if (checkout?.state === "open" && checkout.url !== null) {
    if (!isCheckoutUrl(checkout.url, checkoutOrigins(dependencies))) throw wrongAddress();
    return leadOn(checkout.url);
  }
  if (checkout?.state === "failed") return unavailable(notPreparedPage(link));
  if (checkout?.state !== "asked") return leadOn(link);
  const tries = z.coerce.number().int().min(0).max(maxTries).catch(0).parse(context.url.searchParams.get("try"));
  return tries < maxTries
    ? pageResponse(preparingPage(link, `${link}/pay?try=${tries + 1}`), { referrer: "no-referrer" })
    : unavailable(stillPreparingPage(link));
}

function unavailable(page: Page): Promise<Response> {
  return pageResponse(page, { status: 503, referrer: "no-referrer" });
}

function comeBack(context: RouteContext, { publicUrl }: HttpDependencies): Response | Promise<Response> {
  const cancelled = context.url.searchParams.get("cancelled") === "1";
  const back = readReturn(context.request, publicUrl);
  if (back === undefined) return pageResponse(comeBackPage(cancelled), { referrer: "no-referrer" });
  if (!cancelled) return leadOn(`${linkOf(back.token)}?returned=1`);
  return leadOn(
    back.wizard === undefined
      ? `${linkOf(back.token)}?cancelled=1`
      : `${stepPath(back.wizard.workspaceId, back.wizard.token, 4)}?cancelled=1`,
  );
}

function leadOn(location: string): Response {
  return new Response(null, {
    status: 303,
    headers: { location, "referrer-policy": "no-referrer", "cache-control": "no-store" },
  });
}
