/**
 * The control API: planning faults, reading calls and messages, and starting over.
 *
 * Owns: `/_control`. Does not own: the index page, which does the same with forms.
 */
import { Hono } from "hono";
import { z } from "zod";
import type { SandboxEnv } from "./exchange.ts";
import { faultInput, providers } from "./faults.ts";
import type { World } from "./world.ts";

const requestQuery = z.object({
  provider: z.enum(providers).optional(),
  method: z.string().optional(),
  channel: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(5_000).default(200),
});

/** The messages that people received. */
export interface Messages {
  readonly slack: { channels(): readonly unknown[] };
  readonly mail: { list(): readonly unknown[] };
}

export function controlRoutes(world: World, messages: Messages, reset: () => void): Hono<SandboxEnv> {
  const routes = new Hono<SandboxEnv>();
  routes.get("/_control/faults", () => Response.json({ faults: world.faults.list() }));
  routes.post("/_control/faults", async (context) => {
    const parsed = faultInput.safeParse(await readJson(context.req.raw));
    if (!parsed.success) return invalid(parsed.error);
    return Response.json({ fault: world.faults.add(parsed.data) }, { status: 201 });
  });
  routes.delete("/_control/faults", (context) => {
    const parsed = z.enum(providers).optional().safeParse(context.req.query("provider"));
    if (!parsed.success) return invalid(parsed.error);
    world.faults.clear(parsed.data);
    return new Response(null, { status: 204 });
  });
  routes.delete("/_control/faults/:id", (context) =>
    world.faults.remove(context.req.param("id"))
      ? new Response(null, { status: 204 })
      : problem(404, "There is no such fault.", "It may be used up; GET /_control/faults lists those that are left."),
  );
  routes.post("/_control/release", () => {
    world.faults.release();
    return new Response(null, { status: 204 });
  });
  routes.get("/_control/requests", (context) => {
    const parsed = requestQuery.safeParse(context.req.query());
    if (!parsed.success) return invalid(parsed.error);
    const { limit, ...filter } = parsed.data;
    return Response.json({ requests: world.requests.list(filter).slice(-limit) });
  });
  routes.get("/_control/deliveries", () => Response.json({ deliveries: world.webhooks.list() }));
  routes.get("/_control/messages", () =>
    Response.json({ slack: messages.slack.channels(), mail: messages.mail.list() }),
  );
  routes.post("/_control/reset", () => {
    reset();
    return new Response(null, { status: 204 });
  });
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

export function problem(status: number, detail: string, hint: string): Response {
  return Response.json(
    { type: "about:blank", title: status === 404 ? "Not found" : "Bad request", status, detail, hint },
    { status, headers: { "content-type": "application/problem+json" } },
  );
}
