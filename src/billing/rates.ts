/** Exchange rates to US dollars for approval rules. People set them; money is never converted with them. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface Rate {
  readonly currency: string;
  /** Of one unit, as digits: a JavaScript number cannot hold them all. */
  readonly usd: string;
  readonly setBy: string;
  readonly setAt: Date;
}

export async function listRates(db: Queryable, workspaceId: string): Promise<readonly Rate[]> {
  const rows = await call(db, "billing.list_rates", { p_workspace_id: workspaceId });
  return rows.map((row) => ({ currency: row.currency, usd: row.usd, setBy: row.set_by, setAt: row.set_at }));
}

/** Sets a rate; null forgets it, and prices in that currency escalate from then on. Open requests keep what they were submitted under. */
export async function setRate(
  db: Queryable,
  workspaceId: string,
  rate: { readonly currency: string; readonly usd: string | null },
  actor: string,
): Promise<{ readonly outcome: "set" } | Refused> {
  const refused = await refusable(
    call(db, "billing.set_rate", {
      p_workspace_id: workspaceId,
      p_currency: rate.currency,
      p_usd: rate.usd,
      p_actor: actor,
    }),
  );
  return refused ?? { outcome: "set" };
}
