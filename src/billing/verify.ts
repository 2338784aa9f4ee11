/**
 * Verification of money: asks the database, batch by batch, whether payments, refunds, disputes, the books and the requests agree.
 *
 * Owns: the order of the batches. Does not own: the checks, which are in SQL.
 */
import { findingsSchema, type Finding } from "../capacity/verify.ts";
import { call, type Queryable } from "../db/call.ts";

/** One batch. */
export interface VerifiedPayments {
  readonly phase: "payments";
  /** Findings of this batch. */
  readonly counts: { readonly payments: number };
  /** How many were checked so far. */
  readonly done: number;
  readonly findings: readonly Finding[];
}

export interface VerifyPaymentsOptions {
  /** Only this workspace's payments. */
  readonly workspaceId?: string | undefined;
  /** Default: 2,000. */
  readonly paymentsPerBatch?: number | undefined;
}

const defaults = { paymentsPerBatch: 2_000 } as const satisfies VerifyPaymentsOptions;

/** Checks all payments (I8). A finding does not stop it. */
export async function* verifyPayments(
  db: Queryable,
  options: VerifyPaymentsOptions = {},
): AsyncGenerator<VerifiedPayments> {
  let done = 0;
  for (let after: string | null = ""; after !== null;) {
    const batch: Awaited<ReturnType<typeof paymentsBatch>> = await paymentsBatch(db, after, options);
    done += batch.payments;
    yield {
      phase: "payments",
      counts: { payments: batch.payments },
      done,
      findings: findingsSchema.parse(batch.findings),
    };
    after = batch.last_id;
  }
}

function paymentsBatch(db: Queryable, after: string, options: VerifyPaymentsOptions) {
  return call(db, "billing.verify_payments", {
    p_after: after,
    p_limit: options.paymentsPerBatch ?? defaults.paymentsPerBatch,
    p_workspace_id: options.workspaceId,
  });
}
