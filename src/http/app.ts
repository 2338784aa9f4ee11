/**
 * The application: every route, behind the checks that it declares. It does not listen; `fetch` takes a request and answers it.
 *
 * Owns: the list of routes, and the answer for an address without a route. Does not own: any route (routes/), what happens to a request on
 * its way (gate.ts), nor the socket (server.ts).
 */
import { Hono } from "hono";
import { HeadroomError } from "../db/errors.ts";
import { createAnswer, preflight } from "./answer/answer.ts";
import { createBackgroundWork, type BackgroundWork } from "./background-work.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { createGate } from "./gate.ts";
import { HeldBytes } from "./held-bytes.ts";
import { InProgress } from "./in-progress.ts";
import { createHttpMetrics, type HttpMetrics } from "./metrics.ts";
import type { ClientInfo } from "./request/context.ts";
import { createCatalogue, type Catalogue } from "./rest/catalogue.ts";
import type { RouteEntry } from "./route.ts";
import { authRoutes } from "./routes/auth.ts";
import { confirmRoutes } from "./routes/confirm.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { inboxRoutes } from "./routes/inbox.ts";
import { openapiRoutes } from "./routes/openapi.ts";
import { payRoutes } from "./routes/pay.ts";
import { preferenceRoutes } from "./routes/preferences.ts";
import { relayRoutes } from "./routes/relay.ts";
import { restRoutes } from "./routes/rest.ts";
import { unsubscribeRoutes } from "./routes/unsubscribe.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { wizardRoutes } from "./routes/wizard.ts";

/** What routes may need of the application itself. */
export interface AppState {
  readonly metrics: HttpMetrics;
  /** Aborted when the server stops taking new work. */
  readonly closing: AbortSignal;
  /** Add work here that continues after its request was answered. */
  readonly backgroundWork: BackgroundWork;
  readonly heldBytes: HeldBytes;
  readonly inProgress: InProgress;
  readonly routes: () => readonly RouteEntry[];
  readonly catalogue: Catalogue;
}

export interface App {
  readonly routes: readonly RouteEntry[];
  readonly metrics: HttpMetrics;
  fetch(request: Request, client?: ClientInfo): Promise<Response>;
  /** From now on /readyz answers 503, and streaming answers end. */
  drain(): void;
  /** Resolves when no background work is in progress any more. */
  backgroundWorkDone(): Promise<void>;
}

/** Each one returns the routes of one area. Add a new area here. */
const areas: readonly ((dependencies: HttpDependencies, state: AppState) => RouteEntry[])[] = [
  // One per line.
  healthRoutes,
  restRoutes,
  confirmRoutes,
  payRoutes,
  wizardRoutes,
  unsubscribeRoutes,
  relayRoutes,
  openapiRoutes,
  authRoutes,
  inboxRoutes,
  preferenceRoutes,
  eventRoutes,
  webhookRoutes,
];

export function createApp(dependencies: HttpDependencies): App {
  const closing = new AbortController();
  const state: AppState = {
    metrics: createHttpMetrics(),
    closing: closing.signal,
    backgroundWork: createBackgroundWork(),
    heldBytes: new HeldBytes(dependencies.memory),
    inProgress: new InProgress(dependencies.inProgress),
    routes: () => routes,
    catalogue: createCatalogue(dependencies.database),
  };
  const routes: readonly RouteEntry[] = areas.flatMap((area) => area(dependencies, state));
  const gate = createGate(dependencies, state);
  const hono = new Hono<{ Bindings: { client?: ClientInfo } }>();
  for (const route of routes) {
    hono.on([...route.methods], route.path, (c) => gate(c.req.raw, route, c.req.param(), c.env.client));
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).flatMap((route) => route.methods);
    hono.all(path, (c) => gate(c.req.raw, otherMethods(routes, path, methods), {}, c.env.client));
  }
  hono.notFound((c) => gate(c.req.raw, noRoute, {}, c.env.client));
  return {
    routes,
    metrics: state.metrics,
    fetch: async (request, client) => hono.fetch(request, client === undefined ? {} : { client }),
    drain: () => closing.abort(),
    backgroundWorkDone: () => state.backgroundWork.done(),
  };
}

/** Matches every address that has no route. */
const noRoute: RouteEntry = {
  method: "GET",
  methods: ["GET"],
  path: "*",
  credentials: "none",
  limits: { rate: null },
  summary: "nothing",
  errors: "page",
  handler({ url }) {
    if (/^\/confirm\/?$/.test(url.pathname)) {
      throw new HeadroomError("not_found", "This link is incomplete.", {
        hint: "Mail programs sometimes cut a long link in two: copy it from the mail as a whole, or open it from there. Nothing was changed.",
      });
    }
    throw new HeadroomError("not_found", "There is nothing at this address.", {
      hint: "The page /docs lists every address; GET /openapi.json is the same list for programs.",
    });
  },
};

/** A path that exists, called with a method that it does not have. */
function otherMethods(routes: readonly RouteEntry[], path: string, methods: readonly string[]): RouteEntry {
  const template = routes.find((route) => route.path === path) ?? noRoute;
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  return {
    ...template,
    credentials: "none",
    limits: { rate: null },
    handler(context) {
      if (context.method === "OPTIONS") {
        return template.cors === true
          ? preflight(context.request)
          : new Response(null, { status: 204, headers: { allow } });
      }
      const refusal = new HeadroomError("method_not_allowed", `${context.method.slice(0, 20)} is not allowed here.`, {
        hint: `Allowed: ${allow}.`,
      });
      return createAnswer(context.requestId, template, context.request).refuse(refusal, { allow });
    },
  };
}
