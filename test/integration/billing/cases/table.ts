/**
 * What can happen to money, as a table: the steps, and afterwards the customer's page, the thread and the books. The test plays every case
 * (`cases.test.ts`), and `npm run gen` writes the page about them from the same table.
 *
 * At the end of every case everything due has been delivered and swept, and the books agree with Stripe to the cent.
 */
import { confirming } from "./confirming.ts";
import { contradictions } from "./contradictions.ts";
import { disputes } from "./disputes.ts";
import { prices } from "./prices.ts";
import { refunds } from "./refunds.ts";
import { returned } from "./returned.ts";
import type { StepName } from "./steps.ts";
import { subscriptions } from "./subscriptions.ts";

export interface Price {
  readonly kind?: "one_off" | "recurring";
  readonly currency?: string;
  readonly unit_amount?: number;
}

export interface PaymentCase {
  readonly name: string;
  /** Default: USD 300.00 once. */
  readonly price?: Price;
  readonly steps: readonly StepName[];
  /** The answers to people's calls, where they are the point of the case. */
  readonly answers?: readonly string[];
  /** The state of the request. */
  readonly state: string;
  /** The customer's page, line by line; times are left out. */
  readonly customer: readonly string[];
  /** What was posted about the money; `@` marks a post that mentions people. */
  readonly thread: readonly string[];
  /** The entries, in minor units. */
  readonly books: readonly string[];
  /** What was recorded for people to look at. */
  readonly findings?: readonly string[];
}

export interface CaseGroup {
  readonly title: string;
  readonly about: string;
  readonly cases: readonly PaymentCase[];
}

export const groups: readonly CaseGroup[] = [
  confirming,
  returned,
  refunds,
  disputes,
  subscriptions,
  prices,
  contradictions,
];
