/** For arguments: a payment goes by its id here or at Stripe; where one request is enough, by that. */
import { InvalidArgumentError } from "commander";

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const atStripe = /^(pi|cs|in)_[A-Za-z0-9_]{1,190}$/;
const ofRequest = /^CR-\d{4}-\d{6,}$/i;

export function parsePaymentId(text: string): string {
  const id = text.trim();
  if (uuid.test(id)) return id.toLowerCase();
  if (atStripe.test(id)) return id;
  throw new InvalidArgumentError("Name a payment by its id, or by its id at Stripe, such as pi_3Px….");
}

export function parsePaymentOrRequest(text: string): string {
  const id = text.trim();
  return isRequest(id) ? id.toUpperCase() : parsePaymentId(id);
}

export function isRequest(id: string): boolean {
  return ofRequest.test(id);
}
