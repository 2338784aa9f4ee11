/**
 * The link at the end of a mail: GET shows what it would stop and changes nothing, because mail scanners follow links. POST stops it, or
 * reverts that.
 *
 * Owns: the path from a link to the database and back. Does not own: the words (pages/unsubscribe.ts), nor what a token is worth
 * (public.describe_unsubscribe, public.unsubscribe, public.resubscribe).
 *
 * Mail programs post `List-Unsubscribe=One-Click` automatically (RFC 8058), from any place and without cookies, so no origin is
 * required. A site that knew the token could post without its visitor's browser. As with the customer's page, the address goes nowhere.
 */
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { stopSchema, unknownStopPage, unsubscribePage } from "../pages/unsubscribe.ts";
import { pageResponse } from "../pages/page.ts";
import { defineRoute, type RouteContext, type RouteEntry } from "../route.ts";

const path = "/unsubscribe/:token";
const bodyBytes = 4_096;
/** The form of a token; whether it is valid is decided by the database. */
const tokenShape = /^[A-Za-z0-9_-]{64}$/;
const referrer = "no-referrer";

export function unsubscribeRoutes(): RouteEntry[] {
  return [
    defineRoute({
      method: "GET",
      path,
      credentials: "none",
      limits: { rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "The page behind the link at the end of a mail. Shows which mails it stops, and changes nothing.",
      handler: (context) => answer(context, "public.describe_unsubscribe"),
    }),
    defineRoute({
      method: "POST",
      path,
      credentials: "none",
      limits: { bodyBytes, rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "Stops mails of the kind that the link came with, by the page's form or by one click (RFC 8058).",
      handler: (context) => change(context, "public.unsubscribe"),
    }),
    defineRoute({
      method: "POST",
      path: `${path}/undo`,
      credentials: "none",
      limits: { bodyBytes, rate: { burst: 60, perSecond: 2 } },
      errors: "page",
      summary: "Lets mails of that kind go out again, by the form of the page that says that they are stopped.",
      handler: (context) => change(context, "public.resubscribe"),
    }),
  ];
}

async function change(context: RouteContext, name: "public.unsubscribe" | "public.resubscribe"): Promise<Response> {
  // Read and ignored: the page's form has no fields, and one click has a single constant one.
  await context.bytes();
  return answer(context, name);
}

async function answer(
  context: RouteContext,
  name: "public.describe_unsubscribe" | "public.unsubscribe" | "public.resubscribe",
): Promise<Response> {
  const token = context.params["token"] ?? "";
  if (!tokenShape.test(token)) return unknown();
  try {
    const told = await context.transaction((client) => call(client, name, { p_token: token }), {
      readOnly: name === "public.describe_unsubscribe",
      request: { method: context.method, path, headers: {} },
      secrets: true,
    });
    const page = `/unsubscribe/${encodeURIComponent(token)}`;
    return pageResponse(unsubscribePage(stopSchema.parse(told), page, name === "public.resubscribe"), { referrer });
  } catch (error) {
    if (error instanceof HeadroomError && error.code === "not_found") return unknown();
    throw error;
  }
}

function unknown(): Promise<Response> {
  return pageResponse(unknownStopPage(), { status: 404, referrer });
}
