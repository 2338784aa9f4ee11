/**
 * What rows for Stripe say, and under which idempotency key a row is sent.
 */
import { z } from "zod";
import { sha256 } from "../../db/hash.ts";
import type { RailMessage } from "../../contract/rail.ts";

const text = (most: number) => z.string().min(1).max(most);
/** Of Stripe's objects, by the beginning of their names. */
const idOf = (...prefixes: readonly string[]) =>
  z
    .string()
    .regex(
      new RegExp(`^(${prefixes.join("|")})_[A-Za-z0-9_]{1,240}$`),
      `the id of an object at Stripe (${prefixes.join(", ")})`,
    );
const epoch = z.int().positive();
const amount = z.int().positive();
const currency = z.string().regex(/^[A-Z]{3}$/, "three capital letters");
const address = z.url({ protocol: /^https?$/, error: "an http or https address" }).max(2_000);

const createSchema = z
  .object({
    operation: z.literal("checkout.create"),
    checkout_id: text(100),
    request_id: text(100),
    workspace_id: text(100),
    installation_id: text(100),
    mode: z.enum(["payment", "subscription"]),
    currency,
    amount,
    unit_amount: amount,
    quantity: z.int().positive(),
    description: text(250),
    expires_at: epoch,
    success_url: address,
    cancel_url: address,
    customer: idOf("cus").nullish(),
    customer_email: z.string().max(320).nullish(),
  })
  .superRefine(({ amount: total, unit_amount: unit, quantity }, context) => {
    // What the customer is shown is computed by Stripe, from the parts.
    if (unit * quantity === total) return;
    context.addIssue({ code: "custom", path: ["amount"], message: "is not the quantity times the unit's" });
  });

const expireSchema = z.object({ operation: z.literal("checkout.expire"), session_id: idOf("cs") });

const refundSchema = z.object({
  operation: z.literal("refund"),
  amount,
  currency,
  /** The payment, under the name that every payload that moves money has for where it goes. */
  destination: idOf("pi"),
  refund_id: text(100),
  request_id: text(100),
  payment_id: text(100),
  installation_id: text(100),
  reason: text(60),
});

const cancelSchema = z.object({ operation: z.literal("subscription.cancel"), subscription_id: idOf("sub") });

export const lookKinds = [
  "checkout",
  "session",
  "payment_intent",
  "refunds",
  "subscription",
  "dispute",
  "invoice",
  "invoices",
] as const;
const lookSchema = z.object({
  operation: z.literal("look"),
  kind: z.enum(lookKinds),
  /** For refunds, the payment's; for invoices, the subscription's; for a checkout, ours, by which its session is marked. */
  id: z.union([idOf("cs", "pi", "re", "sub", "dp", "du", "in"), z.uuid()]),
  /** For a checkout: since when there may be a session. */
  since: epoch.nullish(),
});

/** By when they were created; `changes` are events, and so by when something happened to what is older. */
export const listKinds = ["sessions", "refunds", "disputes", "invoices", "changes"] as const;
const listSchema = z.object({
  operation: z.literal("list"),
  kind: z.enum(listKinds),
  since: epoch,
  /** Whatever Stripe called the last object of the page before. */
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,255}$/, "the id of an object at Stripe")
    .nullish(),
  /** Whose objects are meant. Default: those of any installation of ours. */
  installation_id: text(100).nullish(),
});

export const stripeMessageSchema = z.discriminatedUnion("operation", [
  createSchema,
  expireSchema,
  refundSchema,
  cancelSchema,
  lookSchema,
  listSchema,
]);

export type CreateCheckout = z.infer<typeof createSchema>;
export type ExpireCheckout = z.infer<typeof expireSchema>;
export type MakeRefund = z.infer<typeof refundSchema>;
export type CancelSubscription = z.infer<typeof cancelSchema>;
export type Look = z.infer<typeof lookSchema>;
export type List = z.infer<typeof listSchema>;

/** What Stripe takes for a key. */
const maxKeyChars = 255;

/** The same over all tries of a row, and of no other row's. */
export function keyOf({ instructionId, idempotencyKey }: RailMessage): string {
  const key = `${instructionId}:${idempotencyKey}`;
  // A key that no header can carry is known by its hash.
  return key.length <= maxKeyChars && /^[\x21-\x7e]+$/.test(key) ? key : `sha256:${sha256(key)}`;
}
