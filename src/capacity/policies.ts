/**
 * The approval policies of a workspace, which apply to requests at submission.
 */
import { call, type Queryable } from "../db/call.ts";
import type { CapacityPolicies } from "../db/generated.gen.ts";
import { refusable, type Refused } from "../db/refusal.ts";

/** What a policy does. Each kind names whom it involves, and only that. */
export type PolicyRule =
  /** From some cost on, or for some sizes, a role or a member must approve. */
  | { readonly kind: "escalation"; readonly approverRole: "commercial" | "vp" | "admin" }
  | { readonly kind: "escalation"; readonly approver: string }
  /** Small requests are approved automatically. */
  | { readonly kind: "auto_approval"; readonly step: "commercial" | "technical" | "both" }
  /** Who reviews; the requester cannot name another. */
  | { readonly kind: "review_route"; readonly step: "commercial"; readonly approver: string }
  | { readonly kind: "review_route"; readonly step: "technical"; readonly group: string };

/** When it applies: all given conditions must hold. Null removes one. */
export interface PolicyConditions {
  readonly rank?: number | undefined;
  readonly enabled?: boolean | undefined;
  readonly description?: string | null | undefined;
  readonly sizes?: readonly string[] | null | undefined;
  readonly regions?: readonly string[] | null | undefined;
  /** As text where digits matter: "99.50". */
  readonly minMonthlyCostUsd?: number | string | null | undefined;
  readonly maxMonthlyCostUsd?: number | string | null | undefined;
  readonly maxQuantity?: number | null | undefined;
}

export interface Policy {
  readonly id: string;
  readonly kind: string;
  readonly step: string;
  readonly rank: number;
  readonly enabled: boolean;
  readonly description: string | null;
  readonly sizes: readonly string[] | null;
  readonly regions: readonly string[] | null;
  readonly minMonthlyCostUsd: string | null;
  readonly maxMonthlyCostUsd: string | null;
  readonly maxQuantity: number | null;
  readonly approverRole: string | null;
  readonly approver: string | null;
  readonly group: string | null;
}

export async function listPolicies(db: Queryable, workspaceId: string): Promise<readonly Policy[]> {
  return (await call(db, "capacity.list_policies", { p_workspace_id: workspaceId })).map(toPolicy);
}

/** Without a rule an existing policy keeps its own. */
export async function putPolicy(
  db: Queryable,
  workspaceId: string,
  id: string,
  rule: PolicyRule | undefined,
  conditions: PolicyConditions = {},
): Promise<{ readonly outcome: "put"; readonly policy: Policy } | Refused> {
  const row = await refusable(
    call(db, "capacity.put_policy", {
      p_workspace_id: workspaceId,
      p_id: id,
      p_changes: {
        ...(rule === undefined ? {} : fieldsOf(rule)),
        rank: conditions.rank,
        enabled: conditions.enabled,
        description: conditions.description,
        sizes: conditions.sizes,
        regions: conditions.regions,
        min_monthly_cost_usd: conditions.minMonthlyCostUsd,
        max_monthly_cost_usd: conditions.maxMonthlyCostUsd,
        max_quantity: conditions.maxQuantity,
      },
    }),
  );
  return "outcome" in row ? row : { outcome: "put", policy: toPolicy(row) };
}

export async function removePolicy(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<{ readonly outcome: "removed" } | Refused> {
  const refused = await refusable(call(db, "capacity.remove_policy", { p_workspace_id: workspaceId, p_id: id }));
  return refused ?? { outcome: "removed" };
}

/** All fields of a rule, so that fields that a changed policy no longer names become empty. */
function fieldsOf(rule: PolicyRule): Readonly<Record<string, string | null>> {
  return {
    kind: rule.kind,
    step: "step" in rule ? rule.step : "commercial",
    approver_role: "approverRole" in rule ? rule.approverRole : null,
    approver_id: "approver" in rule ? rule.approver : null,
    group_id: "group" in rule ? rule.group : null,
  };
}

function toPolicy(row: CapacityPolicies): Policy {
  return {
    id: row.id,
    kind: row.kind,
    step: row.step,
    rank: row.rank,
    enabled: row.enabled,
    description: row.description,
    sizes: row.sizes,
    regions: row.regions,
    minMonthlyCostUsd: row.min_monthly_cost_usd,
    maxMonthlyCostUsd: row.max_monthly_cost_usd,
    maxQuantity: row.max_quantity,
    approverRole: row.approver_role,
    approver: row.approver_id,
    group: row.group_id,
  };
}
