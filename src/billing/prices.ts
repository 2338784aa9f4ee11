/** What one instance costs. A price is never changed: a new one replaces it from a given time on, and existing offers keep theirs. */
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export type PriceKind = "one_off" | "recurring";

export interface Price {
  readonly id: string;
  readonly workspaceId: string;
  readonly size: string;
  /** Null: everywhere. */
  readonly region: string | null;
  /** Null: for any time. */
  readonly durationDays: number | null;
  /** `one_off`: for the whole duration. `recurring`: for each month. */
  readonly kind: PriceKind;
  readonly currency: string;
  /** Of one instance, in minor units as Stripe counts them. */
  readonly unitAmount: number;
  readonly validFrom: Date;
  readonly createdBy: string;
  readonly withdrawn: { readonly at: Date; readonly by: string; readonly why: string } | null;
}

export interface NewPrice {
  readonly size: string;
  /** Default: everywhere. */
  readonly region?: string | undefined;
  /** Default: for any time. */
  readonly durationDays?: number | undefined;
  readonly kind: PriceKind;
  /** Default: the workspace's. */
  readonly currency?: string | undefined;
  /** In minor units. */
  readonly unitAmount: number;
  /** Default: from now on. */
  readonly validFrom?: Date | undefined;
}

/** All prices of a workspace, by size, region and duration, the newest first; withdrawn and future ones too. */
export async function listPrices(db: Queryable, workspaceId: string): Promise<readonly Price[]> {
  const rows = await call(db, "billing.list_prices", { p_workspace_id: workspaceId });
  return rows.map(toPrice);
}

export type PriceSet = { readonly outcome: "set"; readonly price: Price };

/** Adds a price. The one that applies already is not added again, but returned. */
export async function setPrice(
  db: Queryable,
  workspaceId: string,
  price: NewPrice,
  actor: string,
): Promise<PriceSet | Refused> {
  return refusable(put(db, workspaceId, price, actor));
}

async function put(db: Queryable, workspaceId: string, price: NewPrice, actor: string): Promise<PriceSet> {
  const row = await call(db, "billing.put_price", {
    p_workspace_id: workspaceId,
    p_price: {
      size: price.size,
      region: price.region,
      duration_days: price.durationDays,
      kind: price.kind,
      currency: price.currency,
      unit_amount: price.unitAmount,
      valid_from: price.validFrom,
    },
    p_actor: actor,
  });
  return { outcome: "set", price: toPrice(row) };
}

export type PriceWithdrawn = { readonly outcome: "withdrawn"; readonly price: Price };

/** Withdraws a price that was a mistake: open offers at it can no longer be paid, and a payment that still arrives is refunded. */
export async function withdrawPrice(
  db: Queryable,
  priceId: string,
  reason: string,
  actor: string,
): Promise<PriceWithdrawn | Refused> {
  return refusable(withdraw(db, priceId, reason, actor));
}

async function withdraw(db: Queryable, priceId: string, reason: string, actor: string): Promise<PriceWithdrawn> {
  const row = await call(db, "billing.withdraw_price", { p_price_id: priceId, p_reason: reason, p_actor: actor });
  return { outcome: "withdrawn", price: toPrice(row) };
}

function toPrice(row: FunctionResult<"billing.list_prices">[number]): Price {
  const { withdrawn_at: at, withdrawn_by: by, withdrawn_why: why } = row;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    size: row.size,
    region: row.region,
    durationDays: row.duration_days,
    kind: row.kind === "recurring" ? "recurring" : "one_off",
    currency: row.currency,
    unitAmount: row.unit_amount,
    validFrom: row.valid_from,
    createdBy: row.created_by,
    withdrawn: at === null || by === null || why === null ? null : { at, by, why },
  };
}

/** The status of a price: it applies, begins later, was replaced, or was withdrawn. */
export type PriceStatus = "applies" | "later" | "replaced" | "withdrawn";

/** Each price of a list with its status at this time, in the list's order. */
export function priceStatuses(prices: readonly Price[], now: Date): readonly PriceStatus[] {
  const taken = new Set<string>();
  return prices.map((price) => {
    if (price.withdrawn !== null) return "withdrawn";
    if (price.validFrom > now) return "later";
    const what = JSON.stringify([price.size.toUpperCase(), price.region, price.durationDays, price.currency]);
    if (taken.has(what)) return "replaced";
    taken.add(what);
    return "applies";
  });
}
