/** The books: what was taken, what was refunded and what is withheld because of disputes, by day (UTC). */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

/** Amounts are in minor units; net is taken less refunded less disputed. */
export interface BalanceDay {
  readonly workspaceId: string;
  readonly currency: string;
  /** `2027-01-31` */
  readonly day: string;
  readonly taken: number;
  readonly refunded: number;
  readonly disputed: number;
  readonly net: number;
}

export interface BalanceOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  /** First and last day, both included, as `2027-01-31`. Default: all. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export type Balance = { readonly outcome: "balanced"; readonly days: readonly BalanceDay[] };

/** Newest day first. */
export async function listBalance(db: Queryable, options: BalanceOptions = {}): Promise<Balance | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, { workspaceId, from, to }: BalanceOptions): Promise<Balance> {
  const rows = await call(db, "billing.list_balance", { p_workspace_id: workspaceId, p_from: from, p_to: to });
  return { outcome: "balanced", days: rows.map(({ workspace_id: id, ...rest }) => ({ workspaceId: id, ...rest })) };
}

export type BalanceTotal = Omit<BalanceDay, "day">;

/** Totals of the days, per workspace and currency: amounts of two currencies are never added. */
export function totalsOf(days: readonly BalanceDay[]): readonly BalanceTotal[] {
  const groups = new Map<string, BalanceDay[]>();
  for (const day of days) {
    const name = `${day.workspaceId} ${day.currency}`;
    groups.set(name, [...(groups.get(name) ?? []), day]);
  }
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined
      ? []
      : [
          others.reduce<BalanceTotal>(
            (sum, day) => ({
              ...sum,
              taken: sum.taken + day.taken,
              refunded: sum.refunded + day.refunded,
              disputed: sum.disputed + day.disputed,
              net: sum.net + day.net,
            }),
            { ...withoutDay(first) },
          ),
        ],
  );
}

function withoutDay({ workspaceId, currency, taken, refunded, disputed, net }: BalanceDay): BalanceTotal {
  return { workspaceId, currency, taken, refunded, disputed, net };
}
