/** Reports of Stripe's that do not agree with our records, until a person resolves them. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface MoneyFinding {
  readonly id: string;
  /** `amount_mismatch`, `unknown_payment`, … */
  readonly kind: string;
  /** The object at Stripe. */
  readonly stripeId: string;
  readonly workspaceId: string | null;
  readonly requestId: string | null;
  readonly said: string;
  /** The event by which Stripe reported it. */
  readonly eventId: string;
  readonly foundAt: Date;
  readonly resolved: { readonly at: Date; readonly by: string; readonly resolution: string } | null;
}

export interface ListFindingsOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  /** Resolved ones too. Default: false. */
  readonly all?: boolean | undefined;
  /** Default: 50. At most 10,000. */
  readonly limit?: number | undefined;
}

export type ListedFindings = { readonly outcome: "listed"; readonly findings: readonly MoneyFinding[] };

/** Newest first. */
export async function listFindings(
  db: Queryable,
  options: ListFindingsOptions = {},
): Promise<ListedFindings | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, { workspaceId, all, limit }: ListFindingsOptions): Promise<ListedFindings> {
  const rows = await call(db, "billing.list_findings", { p_workspace_id: workspaceId, p_all: all, p_limit: limit });
  const findings = rows.map((row) => ({
    id: row.id,
    kind: row.kind,
    stripeId: row.stripe_id,
    workspaceId: row.workspace_id,
    requestId: row.request_id,
    said: row.said,
    eventId: row.event_id,
    foundAt: row.found_at,
    resolved:
      row.resolved_at === null
        ? null
        : { at: row.resolved_at, by: row.resolved_by ?? "", resolution: row.resolution ?? "" },
  }));
  return { outcome: "listed", findings };
}

/** Records that a person has checked it, and the outcome. Moves no money. */
export async function resolveFinding(
  db: Queryable,
  id: string,
  resolution: string,
  actor: string,
): Promise<{ readonly outcome: "resolved" } | Refused> {
  const refused = await refusable(
    call(db, "billing.resolve_finding", { p_id: id, p_actor: actor, p_resolution: resolution }),
  );
  return refused ?? { outcome: "resolved" };
}
