/**
 * The GitHub Actions rail's codes, by status, in one table.
 *
 * A dispatch is not idempotent, and GitHub is known to fail after accepting one: the rail looks for the run before it
 * dispatches again.
 *
 * Owns: which outcome a status is. Does not own: making the call, or wording the reason.
 */
import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

export const githubActionsCodes = {
  ...exchangeCodes,
  ...statusCodes,
  http_3xx: { outcome: "rejected", meaning: "The repository has moved: name it by its new owner and name." },
  redirected: { outcome: "retry", meaning: "The call was led elsewhere for the moment, and not followed there." },
  http_401: { outcome: "retry", meaning: "GitHub does not accept the token." },
  http_403: {
    outcome: "retry",
    meaning: "The token may not do this in the repository. It needs Actions: write and Contents: read there.",
  },
  http_404: { outcome: "rejected", meaning: "There is no such repository or workflow, or the token cannot see it." },
  http_409: {
    outcome: "retry",
    meaning: "The run cannot be cancelled now: it has ended, or GitHub has not queued it yet.",
  },
  http_422: { outcome: "rejected", meaning: "GitHub refuses the branch or the inputs." },
  http_4xx: { outcome: "rejected", meaning: "GitHub refuses the request." },
  ratelimited: { outcome: "retry", meaning: "GitHub asks for quiet." },
  may_still_appear: {
    outcome: "retry",
    meaning: "No run was found, and one was asked for too recently for that to count.",
  },
  still_running: { outcome: "retry", meaning: "The run was told to stop and has not ended yet." },
  too_many_to_search: { outcome: "retry", meaning: "More runs were started since than a search can read." },
} as const satisfies Record<string, RailCode>;

export type GithubActionsCodeName = keyof typeof githubActionsCodes;

const codesByStatus: ReadonlyMap<number, GithubActionsCodeName> = new Map([
  [302, "redirected"],
  [303, "redirected"],
  [307, "redirected"],
  [401, "http_401"],
  [403, "http_403"],
  [404, "http_404"],
  [409, "http_409"],
  [422, "http_422"],
  [429, "ratelimited"],
]);

/** For a status other than 2xx. A 403 is a rate limit if it says when to try again or that no calls remain. */
export function codeOfStatus(status: number, asksForQuiet: boolean): GithubActionsCodeName {
  if (status === 403 && asksForQuiet) return "ratelimited";
  const known = codesByStatus.get(status) ?? codeOfAnyStatus(status);
  if (known !== undefined) return known;
  return status >= 300 && status <= 399 ? "http_3xx" : "http_4xx";
}
