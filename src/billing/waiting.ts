/** Money that waits for something: a list for people, and counts for metrics. The database has one view for both. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

/** The states of waiting money; docs/payment-rules.md explains each. */
export interface WaitingMoney {
  /** `processing`, `refund_held_person`, `disputed`, … */
  readonly state: string;
  readonly workspaceId: string | null;
  readonly requestId: string | null;
  readonly paymentId: string | null;
  /** The session, refund, dispute or subscription at Stripe. */
  readonly stripeId: string | null;
  readonly currency: string | null;
  /** In minor units. */
  readonly amount: number | null;
  readonly since: Date;
}

export interface ListWaitingOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  /** Default: 50. At most 10,000. */
  readonly limit?: number | undefined;
}

export type ListedWaiting = { readonly outcome: "listed"; readonly waiting: readonly WaitingMoney[] };

/** Longest wait first. */
export async function listWaiting(db: Queryable, options: ListWaitingOptions = {}): Promise<ListedWaiting | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, { workspaceId, limit }: ListWaitingOptions): Promise<ListedWaiting> {
  const rows = await call(db, "billing.list_waiting", { p_workspace_id: workspaceId, p_limit: limit });
  const waiting = rows.map((row) => ({
    state: row.state,
    workspaceId: row.workspace_id,
    requestId: row.request_id,
    paymentId: row.payment_id,
    stripeId: row.stripe_id,
    currency: row.currency,
    amount: row.amount,
    since: row.since,
  }));
  return { outcome: "listed", waiting };
}

/**
 * How much waits in each state, and how long the oldest has waited. Two more: `unreconciled` has the age of the last complete comparison with Stripe, and
 * `books` counts payments, of those that moved last, that do not add up with their entries.
 */
export interface WaitingCount {
  readonly state: string;
  readonly waiting: number;
  readonly oldestSeconds: number;
}

export async function waitingCounts(db: Queryable): Promise<readonly WaitingCount[]> {
  const rows = await call(db, "billing.waiting_counts", {});
  return rows.map((row) => ({ state: row.state, waiting: row.waiting, oldestSeconds: row.oldest_seconds }));
}
