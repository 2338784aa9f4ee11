/**
 * The payloads of rows for Stripe, and the idempotency key under which a row is sent.
 */
import { z } from "zod";
import { sha256 } from "../../db/hash.ts";
import type { RailMessage } from "../../contract/rail.ts";

const text = (most: number) => z.string().min(1).max(most);
/** The id of an object at Stripe, checked by its prefix. */
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
    // Stripe shows the customer the total that it computes from the parts.
    if (unit * quantity === total) return;
    context.addIssue({ code: "custom", path: ["amount"], message: "is not the quantity times the unit's" });
  });

const expireSchema = z.object({ operation: z.literal("checkout.expire"), session_id: idOf("cs") });

const refundSchema = z.object({
  operation: z.literal("refund"),
  amount,
  currency,
  /** The payment. Every payload that moves money calls its destination so. */
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
  /** For refunds, the payment's id; for invoices, the subscription's; for a checkout, our own, with which its session is marked. */
  id: z.union([idOf("cs", "pi", "re", "sub", "dp", "du", "in"), z.uuid()]),
  /** For a checkout: the earliest time of its session. */
  since: epoch.nullish(),
});

/** By time of creation; `changes` are events, so by the time at which something happened to an older object. */
export const listKinds = ["sessions", "refunds", "disputes", "invoices", "changes"] as const;
const listSchema = z.object({
  operation: z.literal("list"),
  kind: z.enum(listKinds),
  since: epoch,
  /** The id of the last object of the previous page. */
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,255}$/, "the id of an object at Stripe")
    .nullish(),
  /** The installation whose objects are listed. Default: every installation of Headroom. */
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

/** What Stripe accepts as a key. */
const maxKeyChars = 255;

/** The same over all tries of a row, and different for every row. */
export function keyOf({ instructionId, idempotencyKey }: RailMessage): string {
  const key = `${instructionId}:${idempotencyKey}`;
  // A key that does not fit in a header is replaced by its hash.
  return key.length <= maxKeyChars && /^[\x21-\x7e]+$/.test(key) ? key : `sha256:${sha256(key)}`;
}
