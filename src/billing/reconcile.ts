/** Comparing Stripe's records with ours. Relays request the pages and the sweep reads them; one begins every hour automatically. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface Reconciliation {
  readonly id: string;
  readonly askedAt: Date;
  readonly askedBy: string;
  /** Objects made at Stripe from this time on are compared. */
  readonly since: Date;
  /** Pages that have come back. */
  readonly pages: number;
  /** Objects of Stripe's that were compared. */
  readonly seen: number;
  /** How many of them were news. */
  readonly found: number;
  /** `given_up`: it made no progress for an hour, and the next one took its place. */
  readonly state: "under_way" | "complete" | "given_up";
  readonly finishedAt: Date | null;
}

/** Begins a comparison and returns its id. */
export async function reconcile(
  db: Queryable,
  actor: string,
  options: {
    /** Default: seven days back. */
    readonly since?: Date | undefined;
  } = {},
): Promise<{ readonly outcome: "begun"; readonly id: string } | Refused> {
  return refusable(begin(db, actor, options.since));
}

async function begin(db: Queryable, actor: string, since: Date | undefined) {
  const id = await call(db, "billing.reconcile_payments", { p_actor: actor, p_since: since });
  return { outcome: "begun", id } as const;
}

/** Newest first; or the named one. */
export async function listReconciliations(
  db: Queryable,
  options: {
    readonly id?: string | undefined;
    /** Default: 10. At most 1,000. */
    readonly limit?: number | undefined;
  } = {},
): Promise<readonly Reconciliation[]> {
  const rows = await call(db, "billing.list_reconciliations", { p_id: options.id, p_limit: options.limit });
  return rows.map((row) => ({
    id: row.id,
    askedAt: row.asked_at,
    askedBy: row.asked_by,
    since: row.since,
    pages: row.pages,
    seen: row.seen,
    found: row.found,
    state: row.finished_at === null ? "under_way" : row.cursor === null ? "complete" : "given_up",
    finishedAt: row.finished_at,
  }));
}
