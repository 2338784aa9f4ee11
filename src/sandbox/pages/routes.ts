/**
 * What every page needs: its stylesheet, its script, and notices of changes. Forms of other sites are refused.
 */
import { Hono, type MiddlewareHandler } from "hono";
import { isUnsafe, provenanceOf } from "../../web/same-origin.ts";
import type { SandboxEnv } from "../core/exchange.ts";
import { assets } from "./layout.ts";
import type { Live } from "./live.ts";

export function assetRoutes(live: Live): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/_assets/:name", (context) => {
    const asset = assets.get(context.req.param("name"));
    if (asset === undefined) return new Response("Not found", { status: 404 });
    return new Response(asset.text, {
      headers: {
        "content-type": `${asset.type}; charset=utf-8`,
        "cache-control": "public, max-age=31536000, immutable",
      },
    });
  });
  routes.get("/_live", (context) => live.stream(context.req.raw.signal));
  return routes;
}

/** A page of another site that a visitor has open must not press buttons here. Programs, which send no origin, may. */
export const ownFormsOnly: MiddlewareHandler<SandboxEnv> = async (context, next) => {
  const request = context.req.raw;
  const foreign = isUnsafe(request.method) && provenanceOf(request, request.url) === "foreign";
  return foreign ? new Response("Forms of other sites are refused here.", { status: 403 }) : next();
};
