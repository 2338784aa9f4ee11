/** What a customer pays, in words, the same as in every message about the request. */
import type { RequestOffer } from "../../../capacity/index.ts";

export function priceOf(offer: NonNullable<RequestOffer>): string {
  return `${offer.words} ${offer.interval === null ? "once" : "a month"}`;
}
