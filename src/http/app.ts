/**
 * The application: every route behind the checks that it declares. It does not listen; `fetch` takes a request and answers it.
 *
 * Owns: the order of what happens to a request: id, name, rate limit, credential, handler, headers, log line. Does not own: any
 * route, nor the socket (server.ts).
 */
import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { HeadroomError, toHeadroomError } from "../db/errors.ts";
import { anyHost, isAdmitted, type HostPolicy } from "../web/hosts.ts";
import { createAfterwards, type Afterwards } from "./afterwards.ts";
import { createAnswer, preflight, type Answer } from "./answer.ts";
import { createCredentialChecks, type CredentialCheck } from "./credentials.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { createCatalogue, type Catalogue } from "./rest/catalogue.ts";
import { createHttpMetrics, type HttpMetrics } from "./metrics.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limit.ts";
import { createRevocationCheck, type RevocationCheck } from "./revocation.ts";
import { createContext, type ClientInfo } from "./context.ts";
import type { Credentials, RateLimit, RouteContext, RouteEntry } from "./route.ts";
import type { SessionRole } from "./session.ts";
import { authRoutes } from "./routes/auth.ts";
import { confirmRoutes } from "./routes/confirm.ts";
import { eventRoutes } from "./routes/events.ts";
import { healthRoutes } from "./routes/health.ts";
import { openapiRoutes } from "./routes/openapi.ts";
import { relayRoutes } from "./routes/relay.ts";
import { restRoutes } from "./routes/rest.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

/** What routes may need of the application itself. */
export interface AppState {
  readonly metrics: HttpMetrics;
  /** Aborted when the server stops taking new work. */
  readonly closing: AbortSignal;
  /** What goes on after its request was answered is told here. */
  readonly afterwards: Afterwards;
  readonly routes: () => readonly RouteEntry[];
  readonly catalogue: Catalogue;
}

export interface App {
  readonly routes: readonly RouteEntry[];
  readonly metrics: HttpMetrics;
  fetch(request: Request, client?: ClientInfo): Promise<Response>;
  /** From now on /readyz says no, and answers that stream come to their end. */
  drain(): void;
  /** Resolves when what went on after its request was answered is done. */
  settled(): Promise<void>;
}

/** Each gives the routes of one area; a new area is added here. */
const areas: readonly ((dependencies: HttpDependencies, state: AppState) => RouteEntry[])[] = [
  // One a line.
  healthRoutes,
  restRoutes,
  confirmRoutes,
  relayRoutes,
  openapiRoutes,
  authRoutes,
  eventRoutes,
  webhookRoutes,
];

export function createApp(dependencies: HttpDependencies): App {
  const closing = new AbortController();
  const state: AppState = {
    metrics: createHttpMetrics(),
    closing: closing.signal,
    afterwards: createAfterwards(),
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
  hono.notFound((c) => gate(c.req.raw, nothingHere, {}, c.env.client));
  return {
    routes,
    metrics: state.metrics,
    fetch: async (request, client) => hono.fetch(request, client === undefined ? {} : { client }),
    drain: () => closing.abort(),
    settled: () => state.afterwards.settled(),
  };
}

/** Stands for every address that there is not. */
const nothingHere: RouteEntry = {
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
      hint: "The page /docs says what there is; GET /openapi.json says it to programs.",
    });
  },
};

/** A path that exists, asked with a method that it does not have. */
function otherMethods(routes: readonly RouteEntry[], path: string, methods: readonly string[]): RouteEntry {
  const template = routes.find((route) => route.path === path) ?? nothingHere;
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
      const refusal = new HeadroomError("method_not_allowed", `${context.method.slice(0, 20)} is not possible here.`, {
        hint: `Possible: ${allow}.`,
      });
      return createAnswer(context.requestId, template, context.request).refuse(refusal, { allow });
    },
  };
}

const rateByCredentials: Readonly<Record<Credentials, RateLimit | null>> = {
  none: { burst: 60, perSecond: 10 },
  signature: { burst: 600, perSecond: 100 },
  apikey: null,
  member: null,
  service: null,
  "relay-secret": null,
};

/** What one address may do with the key that everybody may have, and how often it may bring a credential that is none. */
const rateOfAnybody: RateLimit = { burst: 120, perSecond: 20 };

type Gate = (
  request: Request,
  route: RouteEntry,
  params: Record<string, string>,
  client: ClientInfo | undefined,
) => Promise<Response>;

/** What every request passes through, whatever its route. */
function createGate(dependencies: HttpDependencies, state: AppState): Gate {
  const now = dependencies.now ?? Date.now;
  const checks = createCredentialChecks(dependencies, now);
  const checkRevocation = createRevocationCheck(dependencies.database);
  const limiter = createRateLimiter(now);
  const { metrics, closing } = state;
  const { hosts = anyHost } = dependencies;
  return async (request, route, params, client) => {
    const startedAt = performance.now();
    metrics.started();
    const requestId = requestIdOf(request);
    const answer = createAnswer(requestId, route, request);
    let failure: HeadroomError | undefined;
    let role: SessionRole | undefined;
    let response: Response;
    try {
      refuseStranger(request, route, hosts, metrics);
      const context = createContext({ request, route, params, client, requestId, dependencies, closing });
      const guards = { checks, checkRevocation, limiter, metrics, answer };
      response = await pass(context, route, guards, (session) => (role = session));
    } catch (error) {
      failure = toHeadroomError(error);
      response = answer.refuse(failure, {}, role);
    }
    response = answer.dress(response, dependencies.publicUrl);
    const seconds = (performance.now() - startedAt) / 1000;
    metrics.finished(request.method, route.path, response.status, seconds);
    dependencies.log({
      level: response.status >= 500 ? "error" : "info",
      event: "request",
      requestId,
      method: request.method,
      route: route.path,
      status: response.status,
      durationMs: Math.round(seconds * 1e6) / 1e3,
      role,
      code: failure?.code,
      sqlState: failure?.sqlState,
      message: response.status >= 500 ? explained(failure) : undefined,
    });
    return response;
  };
}

/** What was asked for by another name than ours may be another page's doing (src/web/hosts.ts). */
function refuseStranger(request: Request, route: RouteEntry, hosts: HostPolicy, metrics: HttpMetrics): void {
  if (isAdmitted(hosts, request.url, request.headers.get("host") ?? undefined)) return;
  metrics.refused(route.path, "host");
  throw new HeadroomError("wrong_host", "This server does not answer to the host name in the request.", {
    hint: hosts.hint,
    httpStatus: 421,
  });
}

/** What the operator needs to know and the caller does not. */
function explained(failure: HeadroomError | undefined): string | undefined {
  return failure?.detail === undefined ? failure?.message : `${failure.message} (${failure.detail})`;
}

interface Guards {
  readonly checks: Readonly<Record<Credentials, CredentialCheck>>;
  readonly checkRevocation: RevocationCheck;
  readonly limiter: RateLimiter;
  readonly metrics: HttpMetrics;
  readonly answer: Answer;
}

async function pass(
  context: RouteContext & { session: RouteContext["session"] },
  route: RouteEntry,
  { checks, checkRevocation, limiter, metrics, answer }: Guards,
  entered: (role: SessionRole) => void,
): Promise<Response> {
  const refuseFor = (waitSeconds: number): Response => {
    metrics.refused(route.path, "rate");
    const refusal = new HeadroomError("rate_limited", "Too many requests from your address.", {
      hint: `Try again in ${waitSeconds} s.`,
    });
    return answer.refuse(refusal, { "retry-after": String(waitSeconds) });
  };
  const takeAsAnybody = (): number | null => limiter.take(`anybody ${context.clientAddress}`, rateOfAnybody);
  const rate = route.limits?.rate === undefined ? rateByCredentials[route.credentials] : route.limits.rate;
  const waitSeconds = rate === null ? null : limiter.take(`${route.path} ${context.clientAddress}`, rate);
  if (waitSeconds !== null) return refuseFor(waitSeconds);
  try {
    context.session = await checks[route.credentials](context.request);
  } catch (error) {
    const wait = takeAsAnybody();
    if (wait !== null) return refuseFor(wait);
    metrics.refused(route.path, "credential");
    throw error;
  }
  entered(context.session.role);
  if (route.asksNothing === true) await checkRevocation(context.session);
  // Machines and members are known and can be revoked; whoever holds the anon key is anybody.
  const wait = route.credentials === "apikey" && context.session.role === "anon" ? takeAsAnybody() : null;
  return wait === null ? route.handler(context) : refuseFor(wait);
}

/** A caller's own id is kept, so that one id leads through several logs, if it cannot harm a log. */
function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[A-Za-z0-9._-]{8,64}$/.test(given) ? given : randomUUID();
}
