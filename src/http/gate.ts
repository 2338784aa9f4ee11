/**
 * What every request passes through, whatever its route: request id, host name, rate limit, credential, handler, headers, log line.
 *
 * Owns: this order. Does not own: any single check, nor which route a request takes (app.ts).
 */
import { randomUUID } from "node:crypto";
import { HeadroomError, toHeadroomError } from "../db/errors.ts";
import { anyHost, isAdmitted, type HostPolicy } from "../web/hosts.ts";
import { createAnswer, type Answer } from "./answer/answer.ts";
import { createCredentialChecks, type CredentialCheck } from "./auth/credentials.ts";
import { createRevocationCheck, type RevocationCheck } from "./auth/revocation.ts";
import type { SessionRole } from "./auth/session.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { HttpMetrics } from "./metrics.ts";
import type { HeldBytes } from "./held-bytes.ts";
import type { InProgress } from "./in-progress.ts";
import { RequestContext, type ClientInfo } from "./request/context.ts";
import { createRateLimiter, type RateLimiter } from "./request/rate-limit.ts";
import type { Credentials, RateLimit, RouteContext, RouteEntry } from "./route.ts";

const rateByCredentials: Readonly<Record<Credentials, RateLimit | null>> = {
  none: { burst: 60, perSecond: 10 },
  signature: { burst: 600, perSecond: 100 },
  apikey: null,
  member: null,
  service: null,
  "relay-secret": null,
};

/** How often one address may use the public key, or send an invalid credential. */
const rateOfAnybody: RateLimit = { burst: 120, perSecond: 20 };

export type Gate = (
  request: Request,
  route: RouteEntry,
  params: Record<string, string>,
  client: ClientInfo | undefined,
) => Promise<Response>;

export interface GateParts {
  readonly metrics: HttpMetrics;
  /** Aborted when the server stops taking new work. */
  readonly closing: AbortSignal;
  readonly heldBytes: HeldBytes;
  readonly inProgress: InProgress;
}

export function createGate(
  dependencies: HttpDependencies,
  { metrics, closing, heldBytes, inProgress }: GateParts,
): Gate {
  const now = dependencies.now ?? Date.now;
  const checks = createCredentialChecks(dependencies, now);
  const checkRevocation = createRevocationCheck(dependencies.database);
  const limiter = createRateLimiter(now);
  const { hosts = anyHost } = dependencies;
  return async (request, route, params, client) => {
    const startedAt = performance.now();
    metrics.started();
    const requestId = requestIdOf(request);
    const answer = createAnswer(requestId, route, request);
    let failure: HeadroomError | undefined;
    let role: SessionRole | undefined;
    let response: Response;
    const context = new RequestContext({
      request,
      route,
      params,
      client,
      requestId,
      dependencies,
      closing,
      heldBytes,
      inProgress,
    });
    try {
      refuseOtherHosts(request, route, hosts, metrics);
      const guards = { checks, checkRevocation, limiter, metrics, answer };
      response = await pass(context, route, guards, (session) => (role = session));
    } catch (error) {
      failure = toHeadroomError(error);
      response = await answer.refuse(failure, {}, role);
    }
    response = answer.complete(response, dependencies.publicUrl);
    context.answered(response);
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

/** A request by another host name than ours may have been made by another site's page (src/web/hosts.ts). */
function refuseOtherHosts(request: Request, route: RouteEntry, hosts: HostPolicy, metrics: HttpMetrics): void {
  if (isAdmitted(hosts, request.url, request.headers.get("host") ?? undefined)) return;
  metrics.refused(route.path, "host");
  throw new HeadroomError("wrong_host", "This server does not answer to the host name in the request.", {
    hint: hosts.hint,
    httpStatus: 421,
  });
}

/** For the log: the detail is for the operator, not for the caller. */
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
  context: RequestContext,
  route: RouteEntry,
  { checks, checkRevocation, limiter, metrics, answer }: Guards,
  entered: (role: SessionRole) => void,
): Promise<Response> {
  const refuseFor = (waitSeconds: number): Promise<Response> => {
    metrics.refused(route.path, "rate");
    const refusal = new HeadroomError("rate_limited", "Too many requests from your address.", {
      hint: `Try again in ${waitSeconds} s.`,
    });
    return answer.refuse(refusal, { "retry-after": String(waitSeconds) });
  };
  const takeAsAnybody = (): number | null => limiter.take(`anybody ${context.clientAddress}`, rateOfAnybody);
  const waitSeconds = waitOf(context, route, limiter);
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
  if (route.skipsDatabase === true) await checkRevocation(context.session);
  // Machines and members are known and can be revoked; anybody may hold the anon key.
  const wait = route.credentials === "apikey" && context.session.role === "anon" ? takeAsAnybody() : null;
  if (wait !== null) return refuseFor(wait);
  await context.enter();
  return route.handler(context);
}

/** How long the address has to wait; null when the request may pass. */
function waitOf(context: RouteContext, route: RouteEntry, limiter: RateLimiter): number | null {
  const { rate = rateByCredentials[route.credentials] } = route.limits ?? {};
  return rate === null ? null : limiter.take(`${route.path} ${context.clientAddress}`, rate);
}

/**
 * A caller's own id is kept, so that one id can be followed through several logs, if it cannot harm a log. Written here instead of using
 * hono/request-id, which refuses ids with dots and accepts an id of one character.
 */
function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[A-Za-z0-9._-]{8,64}$/.test(given) ? given : randomUUID();
}
