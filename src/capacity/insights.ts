/**
 * How the workflow does, as its views say it from the log alone: what is open and on whom it waits, and for a span of days how long things took
 * and how requests ended. Rows are as the views have them, by day (UTC), because a median of medians would be none.
 */
import type { Queryable } from "../db/call.ts";
import { toHeadroomError } from "../db/errors.ts";
import type { Views } from "../db/generated.gen.ts";

/** The views, by the names that people use. */
const views = {
  backlog: "public.capacity_backlog",
  approvals: "public.capacity_approval_latency",
  "time-in-state": "public.capacity_time_in_state",
  outcomes: "public.capacity_outcomes",
  provisioning: "public.capacity_provisioning_duration",
} as const satisfies Readonly<Record<string, keyof Views>>;

export type InsightName = keyof typeof views;
export type InsightRow<Name extends InsightName> = Omit<Views[(typeof views)[Name]], "workspace_id">;

/** What is open now; the oldest first. */
export async function readBacklog(db: Queryable, workspaceId: string): Promise<readonly InsightRow<"backlog">[]> {
  return ask<"backlog">(
    db,
    `select stage, waits_on_kind, waits_on, requests, oldest_since, oldest_seconds, late, monthly_cost_usd
       from ${views.backlog} where workspace_id = $1 order by oldest_since, stage, waits_on`,
    [workspaceId],
  );
}

/** The last so many days, the newest first; days without anything have no line. */
export async function readInsight<Name extends Exclude<InsightName, "backlog">>(
  db: Queryable,
  name: Name,
  workspaceId: string,
  days: number,
): Promise<readonly InsightRow<Name>[]> {
  const rows = await ask<Name>(
    db,
    `select * from ${views[name]}
      where workspace_id = $1 and day > (now() at time zone 'UTC')::date - $2::integer order by day desc, 3, 4`,
    [workspaceId, days],
  );
  return rows.map((row) => {
    const { workspace_id: _workspace, ...rest } = row as InsightRow<Name> & { workspace_id: unknown };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the row without what everybody who asked knows
    return rest as unknown as InsightRow<Name>;
  });
}

async function ask<Name extends InsightName>(
  db: Queryable,
  text: string,
  values: unknown[],
): Promise<readonly InsightRow<Name>[]> {
  try {
    const { rows } = await db.query({ text, values });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the generated types describe the views
    return rows as InsightRow<Name>[];
  } catch (error) {
    throw toHeadroomError(error);
  }
}
