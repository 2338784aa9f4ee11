/**
 * Receiving, as far as the database is concerned: one thin wrapper for each function. Nothing here needs a transaction: only the last
 * call writes.
 */
import { call, type CallOptions, type Queryable } from "../db/call.ts";
import { HeadroomError } from "../db/errors.ts";
import type { Json } from "../db/generated.gen.ts";
import { keptOf } from "./receipt-fields.ts";
import { verifiers, type Provider, type Received } from "./verify.ts";

/** The same few calls, over and over. */
const prepared: CallOptions = { prepare: true };

/** Passes the body to the receiver of Slack's webhooks, which verifies it; the result is the answer to Slack. */
export function receiveSlack(db: Queryable, body: string): Promise<Json> {
  return call(db, "public.handle_slack_webhook", { arg1: body }, prepared);
}

export function receiveLinear(db: Queryable, body: string): Promise<Json> {
  return call(db, "public.handle_linear_webhook", { arg1: body }, prepared);
}

export function receiveGithub(db: Queryable, body: string): Promise<Json> {
  return call(db, "public.handle_github_webhook", { arg1: body }, prepared);
}

/** The answer tells the run whether to continue; a refusal has its HTTP status in it. */
export function receiveCallback(db: Queryable, body: string): Promise<Json> {
  return call(db, "public.handle_provisioning_callback", { arg1: body }, prepared);
}

/**
 * Verifies a Stripe event with Stripe's own library, over the raw bytes, and passes it to the receiver, which verifies it again and
 * applies it. The answer to an event that contradicts what is known has its HTTP status.
 */
export async function receiveStripe(db: Queryable, received: Received): Promise<Json> {
  await verify(db, "stripe", received);
  return call(db, "public.handle_stripe_webhook", { arg1: textOf(received.body) }, prepared);
}

/** Verifies a webhook of Postal and keeps a receipt of it. `new` is false for a repeat. Throws bad_signature, and then nothing was stored. */
export async function receivePostal(db: Queryable, received: Received): Promise<{ readonly new: boolean }> {
  const provider = "postal";
  await verify(db, provider, received);
  const { deliveryId, kind, payload } = keptOf(received);
  const isNew = await call(db, "public.record_receipt", {
    p_provider: provider,
    p_receipt_id: deliveryId,
    p_kind: kind,
    p_payload: payload,
  });
  return { new: isNew };
}

async function verify(db: Queryable, provider: Provider, received: Received): Promise<void> {
  const keys = await call(db, "public.webhook_keys", { p_provider: provider });
  if (verifiers[provider](received, keys)) return;
  throw new HeadroomError("bad_signature", "The signature is missing or is not the provider's.", {
    hint: "Pass on the body exactly as the provider sent it, with its headers. Nothing was stored.",
  });
}

function textOf(body: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch (cause) {
    throw new HeadroomError("invalid_input", "The body is not UTF-8.", { hint: "Nothing was stored.", cause });
  }
}
