/**
 * Reads the views about the workflow: what is open and on whom it waits, and for the last days how long things took and how requests
 * ended. There is one row per day (UTC), as in the views, because medians of several days cannot be combined.
 */
import type { ClientBase } from "pg";
import { sendBatch } from "../../../db/batch.ts";
import { toHeadroomError } from "../../../db/errors.ts";
import type { Views } from "../../../db/generated.gen.ts";

/** The views, by the names of the sub-commands. */
const views = {
  backlog: "public.capacity_backlog",
  approvals: "public.capacity_approval_latency",
  "time-in-state": "public.capacity_time_in_state",
  outcomes: "public.capacity_outcomes",
  provisioning: "public.capacity_provisioning_duration",
} as const satisfies Readonly<Record<string, keyof Views>>;

/** The columns that are shown: all but the workspace, which was given. */
const columns = {
  backlog: "stage, waits_on_kind, waits_on, requests, oldest_since, oldest_seconds, late, monthly_cost_usd",
  approvals: "day, step, automatic, approvals, mean_seconds, median_seconds, p90_seconds, longest_seconds",
  "time-in-state": "day, state, stays, mean_seconds, median_seconds, p90_seconds, longest_seconds",
  outcomes: "day, outcome, origin_state, event_type, requests",
  provisioning: "day, outcome, requests, mean_seconds, median_seconds, p90_seconds, longest_seconds",
} as const satisfies Readonly<Record<keyof typeof views, string>>;

export type InsightName = keyof typeof views;
export type InsightRow<Name extends InsightName> = Omit<Views[(typeof views)[Name]], "workspace_id">;

/** What is open now, oldest first. */
export function readBacklog(db: ClientBase, workspaceId: string): Promise<readonly InsightRow<"backlog">[]> {
  return query(db, "backlog", "", "oldest_since, stage, waits_on", [workspaceId]);
}

/** The last days, newest first; a day on which nothing happened has no row. */
export function readInsight<Name extends Exclude<InsightName, "backlog">>(
  db: ClientBase,
  name: Name,
  workspaceId: string,
  days: number,
): Promise<readonly InsightRow<Name>[]> {
  const span = "and day > (now() at time zone 'UTC')::date - $2::integer";
  return query(db, name, span, "day desc, 2, 3", [workspaceId, days]);
}

/** The same as for requests over HTTP: unlike functions, views cannot have their own settings (headroom.switch_off_jit). */
const withoutJit = { text: "select set_config('jit', 'off', true)" } as const;

async function query<Name extends InsightName>(
  db: ClientBase,
  name: Name,
  condition: string,
  order: string,
  values: readonly (string | number)[],
): Promise<readonly InsightRow<Name>[]> {
  const text = `select ${columns[name]} from ${views[name]} where workspace_id = $1 ${condition} order by ${order}`;
  try {
    const [, result] = await sendBatch(db, [withoutJit, { text, values }]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the generated types describe the views
    return (result?.rows ?? []) as InsightRow<Name>[];
  } catch (error) {
    throw toHeadroomError(error);
  }
}
