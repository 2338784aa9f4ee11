/**
 * How the workflow does, as its views say it from the log alone: what is open and on whom it waits, and for a span of days how long things took
 * and how requests ended. Rows are as the views have them, by day (UTC), because a median of medians would be none.
 */
import type { Queryable } from "../../../db/call.ts";
import { toHeadroomError } from "../../../db/errors.ts";
import type { Views } from "../../../db/generated.gen.ts";
import { valueTypes } from "../../../db/values.ts";

/** The views, by the names that people use. */
const views = {
  backlog: "public.capacity_backlog",
  approvals: "public.capacity_approval_latency",
  "time-in-state": "public.capacity_time_in_state",
  outcomes: "public.capacity_outcomes",
  provisioning: "public.capacity_provisioning_duration",
} as const satisfies Readonly<Record<string, keyof Views>>;

/** What of a view is shown: all but the workspace, which everybody who asks has named. */
const columns = {
  backlog: "stage, waits_on_kind, waits_on, requests, oldest_since, oldest_seconds, late, monthly_cost_usd",
  approvals: "day, step, automatic, approvals, mean_seconds, median_seconds, p90_seconds, longest_seconds",
  "time-in-state": "day, state, stays, mean_seconds, median_seconds, p90_seconds, longest_seconds",
  outcomes: "day, outcome, origin_state, event_type, requests",
  provisioning: "day, outcome, requests, mean_seconds, median_seconds, p90_seconds, longest_seconds",
} as const satisfies Readonly<Record<keyof typeof views, string>>;

export type InsightName = keyof typeof views;
export type InsightRow<Name extends InsightName> = Omit<Views[(typeof views)[Name]], "workspace_id">;

/** What is open now; the oldest first. */
export function readBacklog(db: Queryable, workspaceId: string): Promise<readonly InsightRow<"backlog">[]> {
  return ask(db, "backlog", "", "oldest_since, stage, waits_on", [workspaceId]);
}

/** The last so many days, the newest first; days without anything have no line. */
export function readInsight<Name extends Exclude<InsightName, "backlog">>(
  db: Queryable,
  name: Name,
  workspaceId: string,
  days: number,
): Promise<readonly InsightRow<Name>[]> {
  const span = "and day > (now() at time zone 'UTC')::date - $2::integer";
  return ask(db, name, span, "day desc, 2, 3", [workspaceId, days]);
}

async function ask<Name extends InsightName>(
  db: Queryable,
  name: Name,
  condition: string,
  order: string,
  values: unknown[],
): Promise<readonly InsightRow<Name>[]> {
  const text = `select ${columns[name]} from ${views[name]} where workspace_id = $1 ${condition} order by ${order}`;
  try {
    const { rows } = await db.query({ text, values, types: valueTypes });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the generated types describe the views
    return rows as InsightRow<Name>[];
  } catch (error) {
    throw toHeadroomError(error);
  }
}
