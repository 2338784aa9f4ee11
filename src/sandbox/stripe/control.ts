/** The control API's part about Stripe: how its events are sent, and sending those that were held back. */
import { Hono } from "hono";
import { z } from "zod";
import { problem } from "../core/control.ts";
import type { SandboxEnv } from "../core/exchange.ts";
import { deliveryInput, releaseOrders } from "./delivery.ts";
import type { StripeUserActions } from "./user-actions.ts";

const releaseInput = z.strictObject({ order: z.enum(releaseOrders).default("as_made") });

export function stripeControl(userActions: StripeUserActions): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/_control/stripe/delivery", () => Response.json(userActions.delivery()));
  routes.put("/_control/stripe/delivery", async (context) => {
    const parsed = deliveryInput.safeParse(await readJson(context.req.raw));
    if (!parsed.success) return invalid(parsed.error);
    userActions.deliver(parsed.data);
    return Response.json(userActions.delivery());
  });
  routes.post("/_control/stripe/release", async (context) => {
    const parsed = releaseInput.safeParse((await readJson(context.req.raw)) ?? {});
    if (!parsed.success) return invalid(parsed.error);
    return Response.json({ released: await userActions.release(parsed.data.order) });
  });
  routes.get("/_control/stripe/books", () => Response.json({ books: userActions.books() }));
  return routes;
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return undefined;
  }
}

function invalid(error: z.ZodError): Response {
  const where = error.issues.map((issue) => `${issue.path.map(String).join(".") || "the body"}: ${issue.message}`);
  return problem(400, `The request is not valid. ${where.join("; ")}`, "Nothing was changed.");
}
