/**
 * Whether a request that changes something was made by a page of ours.
 *
 * Owns: the reading of Sec-Fetch-Site and Origin. Does not own: who is signed in; SameSite cookies and this check together keep other
 * sites from acting for somebody who is.
 */
import { parseUrl } from "../db/parse-url.ts";

/** Where the browser says that the request comes from; `unsaid` by what is no browser, or an old one. */
export type Provenance = "own" | "foreign" | "unsaid";

/**
 * Our own address is the configured one or the one that was called: a page that was reached by another name of this machine may
 * call back by it. A browser never lets a page choose its Origin, nor the Host of where it sends something.
 */
export function provenanceOf(request: Request, publicUrl: string): Provenance {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none" ? "own" : "foreign";
  const origin = request.headers.get("origin");
  // A page whose address is secret has the browser send `null`, as do frames without an origin.
  if (origin === null || origin === "null") return "unsaid";
  const own = [parseUrl(publicUrl)?.origin, parseUrl(request.url)?.origin];
  return own.includes(origin) ? "own" : "foreign";
}

/** GET and HEAD change nothing. */
export function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}
