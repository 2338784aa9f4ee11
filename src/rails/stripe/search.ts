/**
 * Searching one of Stripe's lists, newest first, for the object that carries our mark.
 *
 * Owns: the bounds of a search. Does not own: which list, or what follows.
 */
import type { Stripe } from "stripe";
import type { StripeCall, StripeFailure } from "./call.ts";
import { unreadable } from "./outcomes.ts";
import { compactPage, markOf, type Compact, type CompactKind } from "./shapes.ts";

export interface Search {
  readonly kind: CompactKind;
  readonly name: `headroom_${string}`;
  readonly mark: string;
  readonly page: (stripe: Stripe, window: PageWindow) => Promise<unknown>;
}

export interface PageWindow {
  readonly limit: number;
  readonly starting_after?: string;
}

export type Found =
  | { readonly kind: "found"; readonly object: Compact }
  /** True if everything was read; false if there was more than a search may read. */
  | { readonly kind: "missed"; readonly whole: boolean }
  | StripeFailure;

const pageSize = 100;
const maxPages = 10;

export async function findMarked(call: StripeCall, search: Search, signal: AbortSignal): Promise<Found> {
  let after: string | null = null;
  for (let page = 1; page <= maxPages; page += 1) {
    const window: PageWindow = { limit: pageSize, ...(after === null ? {} : { starting_after: after }) };
    const answer = await call((stripe) => search.page(stripe, window), signal);
    if (answer.kind === "failure") return answer;
    const read = compactPage(search.kind, answer.data);
    if (read === undefined) return unreadable;
    const object = read.objects.find((each) => markOf(each, search.name) === search.mark);
    if (object !== undefined) return { kind: "found", object };
    // An object that cannot be read may be the one we look for, unless it carries another mark.
    if (read.unread.some((each) => (markOf(each, search.name) ?? search.mark) === search.mark)) return unreadable;
    if (read.cursor === null) return { kind: "missed", whole: true };
    after = read.cursor;
  }
  return { kind: "missed", whole: false };
}
