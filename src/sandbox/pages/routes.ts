/**
 * What every page needs: its stylesheet, its script, and word of changes. And forms that come from elsewhere are refused.
 */
import { Hono, type MiddlewareHandler } from "hono";
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

/** Another site that a visitor has open must not press buttons here. Programs, which send no such header, may. */
export const sameSiteOnly: MiddlewareHandler<SandboxEnv> = async (context, next) => {
  const from = context.req.header("sec-fetch-site");
  const safe = context.req.method === "GET" || context.req.method === "HEAD";
  if (!safe && from === "cross-site") return new Response("Forms of other sites are not taken here.", { status: 403 });
  return next();
};
