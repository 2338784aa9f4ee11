/**
 * Whether Stripe accepts the key, and lets it read what the rail reads. Whether it may also write cannot be checked without writing.
 */
import type { Stripe } from "stripe";
import { openConnections } from "../exchange.ts";
import { requireSettings } from "../fields.ts";
import { lacking, problemOf, type AccessCheck, type AccessProblem } from "../access-check.ts";
import { createStripeCall, type StripeCall, type StripeFailure } from "./call.ts";
import { stripeCodes } from "./codes.ts";
import { stripeSettingsSchema, type StripeSettings } from "./config.ts";

const questions: readonly (readonly [permission: string, ask: (stripe: Stripe) => Promise<unknown>])[] = [
  ["Checkout Sessions", (stripe) => stripe.checkout.sessions.list({ limit: 1 })],
  ["Charges and Refunds", (stripe) => stripe.refunds.list({ limit: 1 })],
  ["PaymentIntents", (stripe) => stripe.paymentIntents.list({ limit: 1 })],
  ["Subscriptions", (stripe) => stripe.subscriptions.list({ limit: 1 })],
  ["Invoices", (stripe) => stripe.invoices.list({ limit: 1 })],
  ["Disputes", (stripe) => stripe.disputes.list({ limit: 1 })],
  ["Events", (stripe) => stripe.events.list({ limit: 1 })],
];

/** Returns the first problem. */
export async function checkStripeAccess(given: StripeSettings, signal: AbortSignal): Promise<AccessCheck> {
  const settings = requireSettings("stripe", stripeSettingsSchema, given);
  const connections = openConnections();
  try {
    const call = createStripeCall(settings, connections);
    for (const [permission, ask] of questions) {
      const problem = await problemWith(call, permission, ask, signal);
      if (problem !== undefined) return problem;
    }
    return { kind: "answers", as: modeOf(settings.secretKey) };
  } finally {
    connections.close();
  }
}

/** Using the wrong mode is the most frequent mistake. */
function modeOf(secretKey: string): string {
  return /^.k_live_/.test(secretKey) ? "a key that moves real money" : "a key of the test mode, which moves no money";
}

async function problemWith(
  call: StripeCall,
  permission: string,
  ask: (stripe: Stripe) => Promise<unknown>,
  signal: AbortSignal,
): Promise<AccessProblem | undefined> {
  const answer = await call(ask, signal);
  if (answer.kind === "data") return undefined;
  if (answer.code !== "http_403") return problemOfFailure(answer);
  return lacking(
    true,
    `The restricted key may not read ${permission}.`,
    "On Stripe: Developers, API keys, the key, Edit; docs/guides/rails.md says what it needs.",
  );
}

function problemOfFailure({ code, detail }: StripeFailure): AccessProblem {
  return problemOf(code, stripeCodes[code].meaning, detail, ["http_401"]);
}
