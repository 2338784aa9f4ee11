/** A page of requests, newest first. */
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import type { CapacityRequestState } from "../db/generated.gen.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface ListOptions {
  readonly workspaceId: string;
  /** Default: all. */
  readonly states?: readonly CapacityRequestState[] | undefined;
  /** A member, by id or Slack id. */
  readonly requester?: string | undefined;
  /** A member whom a request waits on now, by id or Slack id, or a group. */
  readonly waitsOn?: string | undefined;
  /** Default: 50. At most 1,000. */
  readonly limit?: number | undefined;
  /** The last id of the previous page. */
  readonly after?: string | undefined;
}

type Row = FunctionResult<"capacity.list_requests">[number];

export interface ListedRequest {
  readonly id: string;
  readonly state: CapacityRequestState;
  readonly version: number;
  readonly createdAt: Date;
  readonly stateSince: Date;
  readonly requester: string;
  readonly commercialOwner: string | null;
  readonly infraGroup: string | null;
  readonly size: string;
  readonly quantity: number;
  readonly region: string;
  readonly neededBy: string | null;
  readonly monthlyCostUsd: string | null;
  readonly deadlineAt: Date | null;
  /** Members, `role …`, `group …`, `customer` or `provisioning`, or `nobody …` where nobody is left; empty once the request has ended. */
  readonly waitsOn: readonly string[];
}

export type Listed = { readonly outcome: "listed"; readonly requests: readonly ListedRequest[] };

export async function listRequests(db: Queryable, options: ListOptions): Promise<Listed | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, options: ListOptions): Promise<Listed> {
  const rows = await call(db, "capacity.list_requests", {
    p_workspace_id: options.workspaceId,
    p_states: options.states,
    p_requester_id: options.requester,
    p_waits_on: options.waitsOn,
    p_limit: options.limit,
    p_after: options.after,
  });
  return { outcome: "listed", requests: rows.map(toRequest) };
}

function toRequest(row: Row): ListedRequest {
  return {
    id: row.id,
    state: row.state,
    version: row.version,
    createdAt: row.created_at,
    stateSince: row.state_since,
    requester: row.requester_user_id,
    commercialOwner: row.commercial_owner_user_id,
    infraGroup: row.infra_owner_group,
    size: row.requested_size,
    quantity: row.quantity,
    region: row.region,
    neededBy: row.needed_by_date,
    monthlyCostUsd: row.estimated_monthly_cost_usd,
    deadlineAt: row.next_deadline_at,
    waitsOn: row.waits_on,
  };
}
