/** How a workspace takes money. */
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface BillingSettings {
  readonly workspaceId: string;
  /** Decides between prices that differ only in currency; and the currency of a new price if none is named. */
  readonly currency: string;
  /** How long a page of Stripe's Checkout stays open, at most. */
  readonly sessionMinutes: number;
  /** How long an offer waits beyond its deadline for a payment that is being processed. */
  readonly holdDays: number;
  /** How long a renewal may fail before the subscription is treated as unpaid and people are told. */
  readonly graceDays: number;
  /** The member in whose name the wizard submits. Null: the wizard is closed. */
  readonly selfServiceRequester: string | null;
}

export type BillingSettingsChanges = {
  readonly [Field in keyof Omit<BillingSettings, "workspaceId">]?: BillingSettings[Field] | undefined;
};

/** Of all workspaces, defaults included. */
export async function listSettings(db: Queryable): Promise<readonly BillingSettings[]> {
  return (await call(db, "billing.list_settings", {})).map(toSettings);
}

export type BillingSettingsPut = { readonly outcome: "put"; readonly settings: BillingSettings };

/** Changes the given settings. */
export async function putSettings(
  db: Queryable,
  workspaceId: string,
  changes: BillingSettingsChanges,
): Promise<BillingSettingsPut | Refused> {
  return refusable(put(db, workspaceId, changes));
}

async function put(db: Queryable, workspaceId: string, changes: BillingSettingsChanges): Promise<BillingSettingsPut> {
  const row = await call(db, "billing.put_settings", {
    p_workspace_id: workspaceId,
    p_changes: {
      currency: changes.currency,
      session_minutes: changes.sessionMinutes,
      hold_days: changes.holdDays,
      grace_days: changes.graceDays,
      self_service_requester: changes.selfServiceRequester,
    },
  });
  return { outcome: "put", settings: toSettings(row) };
}

function toSettings(row: FunctionResult<"billing.list_settings">[number]): BillingSettings {
  return {
    workspaceId: row.workspace_id,
    currency: row.currency,
    sessionMinutes: row.session_minutes,
    holdDays: row.hold_days,
    graceDays: row.grace_days,
    selfServiceRequester: row.self_service_requester,
  };
}
