/**
 * What a workspace is connected to beyond its settings: which workflow states of Linear represent ours, and which endpoints of the relays'
 * files get its events.
 */
import { call, type Queryable } from "../db/call.ts";
import type { CapacityRequestState, CapacitySubscriptions } from "../db/generated.gen.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface LinearState {
  readonly state: CapacityRequestState;
  readonly linearStateId: string;
}

/** The chosen ones; the others are sent by their kind. */
export async function listLinearStates(db: Queryable, workspaceId: string): Promise<readonly LinearState[]> {
  const rows = await call(db, "capacity.list_linear_states", { p_workspace_id: workspaceId });
  return rows.map((row) => ({ state: row.state, linearStateId: row.linear_state_id }));
}

/** Null removes the choice. */
export async function putLinearState(
  db: Queryable,
  workspaceId: string,
  state: CapacityRequestState,
  linearStateId: string | null,
): Promise<
  { readonly outcome: "put"; readonly state: CapacityRequestState; readonly linearStateId: string | null } | Refused
> {
  const row = await refusable(
    call(db, "capacity.put_linear_state", {
      p_workspace_id: workspaceId,
      p_state: state,
      p_linear_state_id: linearStateId,
    }),
  );
  return "outcome" in row ? row : { outcome: "put", state: row.state, linearStateId: row.linear_state_id };
}

export interface Subscription {
  readonly endpoint: string;
  /** Null: all of them. */
  readonly eventTypes: readonly string[] | null;
  readonly enabled: boolean;
  readonly createdAt: Date;
}

export async function listSubscriptions(db: Queryable, workspaceId: string): Promise<readonly Subscription[]> {
  return (await call(db, "capacity.list_subscriptions", { p_workspace_id: workspaceId })).map(toSubscription);
}

/** Makes the subscription, or changes the given fields. */
export async function putSubscription(
  db: Queryable,
  workspaceId: string,
  endpoint: string,
  changes: { readonly eventTypes?: readonly string[] | null | undefined; readonly enabled?: boolean | undefined },
): Promise<{ readonly outcome: "put"; readonly subscription: Subscription } | Refused> {
  const row = await refusable(
    call(db, "capacity.put_subscription", {
      p_workspace_id: workspaceId,
      p_endpoint: endpoint,
      p_changes: { event_types: changes.eventTypes, enabled: changes.enabled },
    }),
  );
  return "outcome" in row ? row : { outcome: "put", subscription: toSubscription(row) };
}

export async function removeSubscription(
  db: Queryable,
  workspaceId: string,
  endpoint: string,
): Promise<{ readonly outcome: "removed" } | Refused> {
  const refused = await refusable(
    call(db, "capacity.remove_subscription", { p_workspace_id: workspaceId, p_endpoint: endpoint }),
  );
  return refused ?? { outcome: "removed" };
}

function toSubscription(row: CapacitySubscriptions): Subscription {
  const { endpoint, event_types: types, enabled, created_at: createdAt } = row;
  return { endpoint, eventTypes: types === null ? null : namesIn(types), enabled, createdAt };
}

/** An array of our own type arrives in Postgres notation; its names contain nothing that would need quotes. */
function namesIn(list: string): readonly string[] {
  return list.slice(1, -1).split(",");
}
