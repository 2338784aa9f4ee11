/**
 * The outside of an answer: errors in the format of their route, and the headers that every answer has.
 *
 * Owns: security headers, the request id, CORS. Does not own: the content.
 *
 * By hand, and not by hono/secure-headers and hono/cors: the first overwrites what a page set itself, such as its own content security
 * policy, and the second answers a preflight before the host name is checked and without a request id, a log line or a metric.
 */
import { problemPage } from "../pages/problem.ts";
import { pageResponse } from "../pages/page.ts";
import { describeProblem, problemResponse } from "./problem.ts";
import { postgrestErrorResponse } from "../rest/errors.ts";
import type { RouteEntry } from "../route.ts";
import type { SessionRole } from "../auth/session.ts";

export interface Answer {
  refuse(error: unknown, headers?: Readonly<Record<string, string>>, role?: SessionRole): Promise<Response>;
  /** Adds the headers that are missing; what a handler set itself stays. */
  complete(response: Response, publicUrl: string): Response;
}

const securityHeaders: readonly (readonly [string, string])[] = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["x-frame-options", "DENY"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cache-control", "no-store"],
];

const exposedToScripts = [
  "Content-Encoding",
  "Content-Location",
  "Content-Range",
  "Content-Type",
  "Date",
  "Location",
  "Server",
  "Transfer-Encoding",
  "Range-Unit",
  "X-Request-Id",
].join(", ");

export function createAnswer(requestId: string, route: RouteEntry, request: Request): Answer {
  const asPage = route.errors === "page" && (request.headers.get("accept") ?? "").includes("text/html");
  return {
    async refuse(error, headers, role) {
      if (route.errors === "postgrest") return postgrestErrorResponse(error, headers, role);
      if (!asPage) return problemResponse(error, requestId, headers);
      const problem = describeProblem(error, requestId);
      return pageResponse(problemPage(problem, returnTo(request)), {
        status: problem.status,
        referrer: "no-referrer",
        headers,
      });
    },
    complete(response, publicUrl) {
      const completed = isFrozen(response) ? new Response(response.body, response) : response;
      const { headers } = completed;
      headers.set("x-request-id", requestId);
      for (const [name, value] of securityHeaders) if (!headers.has(name)) headers.set(name, value);
      if (publicUrl.startsWith("https:")) headers.set("strict-transport-security", "max-age=31536000");
      if (route.cors === true && request.headers.has("origin")) {
        headers.set("access-control-allow-origin", "*");
        headers.set("access-control-expose-headers", exposedToScripts);
      }
      return completed;
    },
  };
}

/** The headers of an answer that was fetched, or is a redirect, cannot be changed. */
function isFrozen(response: Response): boolean {
  return response.type === "error" || response.redirected || response.type === "opaqueredirect" || response.url !== "";
}

/** The answer to a browser that asks whether a script may call. These routes take no cookies, so any origin may. */
export function preflight(request: Request): Response {
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const headers = asked.split(",").map((name) => name.trim());
  const allowed = ["Authorization", ...headers.filter((name) => /^[A-Za-z0-9-]{1,64}$/.test(name))];
  return new Response(null, {
    status: 200,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD",
      "access-control-allow-headers": allowed.join(", "),
      "access-control-max-age": "86400",
    },
  });
}

/** The page that a person who has to sign in first wanted to see; none if they sent a form. */
function returnTo({ method, url }: Request): string | undefined {
  const { pathname, search } = new URL(url);
  return method === "GET" ? `${pathname}${search}` : undefined;
}
