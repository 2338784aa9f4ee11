/**
 * Whether a request that changes something was made by one of our own pages.
 *
 * Owns: reading Sec-Fetch-Site and Origin. Does not own: who is signed in; SameSite cookies and this check together keep other
 * sites from acting for a signed-in person.
 */
import { parseUrl } from "../db/parse-url.ts";

/** The request's origin according to the browser; `unsaid` if the client is an old browser or not a browser. */
export type Provenance = "own" | "foreign" | "unsaid";

/**
 * Our own address is the configured one or the one that was called: a page that was opened under another name of this machine may
 * use that name. A browser never lets a page choose its Origin, nor the Host of where it sends something.
 */
export function provenanceOf(request: Request, publicUrl: string): Provenance {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none" ? "own" : "foreign";
  const origin = request.headers.get("origin");
  // Browsers send `null` for a page whose address is secret, and for frames without an origin.
  if (origin === null || origin === "null") return "unsaid";
  const own = [parseUrl(publicUrl)?.origin, parseUrl(request.url)?.origin];
  return own.includes(origin) ? "own" : "foreign";
}

/** GET and HEAD change nothing. */
export function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}
