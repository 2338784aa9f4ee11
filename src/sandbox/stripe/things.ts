/**
 * The objects of a Stripe account, in test mode or in live mode. Ids, amounts in minor units, and times in seconds, as Stripe has them.
 */
import type { HowPaid } from "./money/cards.ts";

type Metadata = Readonly<Record<string, string>>;

export interface Line {
  readonly name: string;
  readonly quantity: number;
  readonly unitAmount: number;
}

export interface Session {
  readonly id: string;
  readonly livemode: boolean;
  readonly mode: "payment" | "subscription";
  /** The price; a discount can be given while the session is open. */
  amount: number;
  readonly currency: string;
  readonly lines: readonly Line[];
  readonly successUrl: string;
  readonly cancelUrl: string | undefined;
  readonly clientReferenceId: string | undefined;
  readonly metadata: Metadata;
  /** The metadata for its payment or subscription. */
  readonly passedOn: Metadata;
  readonly customerEmail: string | undefined;
  readonly createsCustomer: boolean;
  readonly created: number;
  readonly expiresAt: number;
  /** These three are set when the session is completed. */
  readonly paymentIntent: string;
  readonly subscription: string | undefined;
  readonly invoice: string | undefined;
  customer: string | undefined;
  status: "open" | "complete" | "expired";
  paymentStatus: "unpaid" | "paid";
  /** Whether a payment that takes days is still in progress, succeeded or failed. */
  later: "processing" | "succeeded" | "failed" | undefined;
}

export interface Payment {
  readonly id: string;
  readonly livemode: boolean;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | undefined;
  readonly metadata: Metadata;
  readonly created: number;
  readonly invoice: string | undefined;
  readonly how: HowPaid;
  status: "processing" | "succeeded" | "failed";
}

export interface Refund {
  readonly id: string;
  readonly livemode: boolean;
  readonly paymentIntent: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string | undefined;
  readonly metadata: Metadata;
  readonly created: number;
  status: "pending" | "requires_action" | "succeeded" | "failed" | "canceled";
  failureReason: string | undefined;
}

export interface Dispute {
  readonly id: string;
  readonly livemode: boolean;
  readonly paymentIntent: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string;
  readonly created: number;
  status: "warning_needs_response" | "warning_closed" | "needs_response" | "under_review" | "won" | "lost";
}

export interface Customer {
  readonly id: string;
  readonly livemode: boolean;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly metadata: Metadata;
  readonly created: number;
}

export interface Subscription {
  readonly id: string;
  readonly livemode: boolean;
  readonly customer: string | undefined;
  readonly metadata: Metadata;
  readonly currency: string;
  readonly lines: readonly Line[];
  readonly created: number;
  status: "active" | "past_due" | "unpaid" | "canceled";
  periodStart: number;
  periodEnd: number;
  cancelAtPeriodEnd: boolean;
  canceledAt: number | undefined;
  endedAt: number | undefined;
  latestInvoice: string;
}

export interface Invoice {
  readonly id: string;
  readonly livemode: boolean;
  readonly subscription: string;
  readonly customer: string | undefined;
  readonly amount: number;
  readonly currency: string;
  readonly billingReason: "subscription_create" | "subscription_cycle";
  readonly created: number;
  /** What it pays for. */
  readonly periodStart: number;
  readonly periodEnd: number;
  /** The last payment that was attempted. */
  paymentIntent: string;
  attempts: number;
  status: "open" | "paid" | "void" | "uncollectible";
  /** Undefined until then. */
  paidAt?: number | undefined;
  voidedAt?: number | undefined;
  uncollectibleAt?: number | undefined;
}

export interface StripeEvent {
  readonly id: string;
  readonly livemode: boolean;
  readonly type: string;
  readonly created: number;
  readonly object: Readonly<Record<string, unknown>>;
}

/** The exact answer under a key, including failures. */
export interface Remembered {
  readonly fingerprint: string;
  readonly status: number;
  readonly body: string;
  readonly at: number;
}
