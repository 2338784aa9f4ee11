/**
 * The sandbox's Stripe as a process.
 */
import { startAsked, type AskedProcess } from "../asked-process.ts";
import type { Acts } from "./stripe-child.ts";

export type StripeProcess = AskedProcess<Acts>;

export function startStripe(
  codeDir: string,
  config: { readonly headroomUrl: string; readonly webhookSecret: string },
): Promise<StripeProcess> {
  return startAsked<Acts>(codeDir, "payments/stripe-child.ts", config);
}
