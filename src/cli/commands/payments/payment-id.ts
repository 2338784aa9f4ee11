/** For arguments: a payment is named by any id that people may have at hand, or by its request if that has only one. */
import { InvalidArgumentError } from "commander";

export const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const atStripe = /^(pi|cs|in|ch|py|re|pyr|dp|du|sub)_[A-Za-z0-9_]{1,190}$/;
const ofReceipt = /^[0-9a-f]{12}$/i;
const ofRequest = /^CR-\d{4}-\d{6,}$/i;

const names = "Name a payment by its id, by the number of its receipt, or by an id at Stripe, such as pi_3Px…";

export function parsePaymentId(text: string): string {
  const id = paymentIdIn(text);
  if (id !== null) return id;
  const whereFound = isRequest(text.trim())
    ? `headroom payments show ${text.trim().toUpperCase()} has those of the request`
    : "headroom payments list has them";
  throw new InvalidArgumentError(`${names}; ${whereFound}.`);
}

export function parsePaymentOrRequest(text: string): string {
  const id = isRequest(text.trim()) ? text.trim().toUpperCase() : paymentIdIn(text);
  if (id !== null) return id;
  throw new InvalidArgumentError(`${names}, or name the request; headroom payments list has them.`);
}

function paymentIdIn(text: string): string | null {
  const id = text.trim();
  if (uuid.test(id)) return id.toLowerCase();
  if (ofReceipt.test(id)) return id.toUpperCase();
  return atStripe.test(id) ? id : null;
}

export function isRequest(id: string): boolean {
  return ofRequest.test(id);
}
