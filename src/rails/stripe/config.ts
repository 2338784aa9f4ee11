/**
 * The settings of the Stripe rail, as data, and which version of Stripe's API it uses.
 *
 * Owns: validation and documentation of the settings. Does not own: where they come from.
 */
import type { Stripe } from "stripe";
import { z } from "zod";
import type { RailField } from "../fields.ts";

export interface StripeSettings {
  readonly secretKey: string;
  readonly apiUrl?: string | undefined;
}

export const stripeApiUrl = "https://api.stripe.com";

/** Pinned, so that neither the account's default nor an update of the client changes the answers. */
export const stripeApiVersion = "2026-10-28.endive" satisfies Stripe.LatestApiVersion;

/** The client accepts a host, but no path below it. */
const origin = z
  .url({ protocol: /^https?$/, error: "an http or https address" })
  .refine((text) => URL.canParse(text) && isOrigin(new URL(text)), { error: "an address without a path" });

function isOrigin({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && `${search}${hash}${username}${password}` === "";
}

const schemas = {
  secretKey: z
    .string("must be a string")
    .regex(/^(sk|rk)_[A-Za-z0-9_]{4,300}$/, "a secret key (sk_…) or a restricted one (rk_…)"),
  apiUrl: origin.optional(),
} satisfies Record<keyof StripeSettings, z.ZodType>;

export const stripeSettingsSchema = z.object(schemas);

export const stripeFields: readonly (RailField & { readonly name: keyof StripeSettings })[] = [
  {
    name: "secretKey",
    label: "Secret key",
    help: "A secret key, or a restricted one that may write Checkout Sessions, Charges and Refunds, and Subscriptions, and read Invoices, PaymentIntents, Disputes and Events.",
    example: "rk_live_<letters>",
    secret: true,
    required: true,
    schema: schemas.secretKey,
  },
  {
    name: "apiUrl",
    label: "API address",
    help: "Where the API is, when it is not Stripe's own: a sandbox.",
    example: stripeApiUrl,
    secret: false,
    required: false,
    schema: schemas.apiUrl,
  },
];
