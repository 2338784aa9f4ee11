/**
 * Alerts on dead letters: who is told when rows are given up, and again when none is left.
 *
 * Owns: one typed wrapper for each of its functions. Does not own: when an alert is raised (the SQL decides), nor sending it (it is a
 * row of the stream `alerts`).
 */
import { call, type Queryable } from "../db/call.ts";
import type { Task } from "../outbox/upkeep/task.ts";

export type AlertTemplate = "event" | "pagerduty";

export interface Alert {
  readonly name: string;
  readonly endpoint: string;
  readonly template: string;
  /** Null: all streams. */
  readonly streams: readonly string[] | null;
  readonly repeatMinutes: number;
  /** For how many streams and rails it is raised now. */
  readonly raised: number;
  readonly raisedSince: Date | null;
}

export interface AlertChanges {
  /** An endpoint of the installation. */
  readonly endpoint?: string | undefined;
  /** `event`: a CloudEvents envelope. `pagerduty`: an event of PagerDuty's Events API v2. Default: `event`. */
  readonly template?: AlertTemplate | undefined;
  /** PagerDuty's integration key; null removes it. */
  readonly routingKey?: string | null | undefined;
  /** Null: all streams, which is the default. */
  readonly streams?: readonly string[] | null | undefined;
  /** For how many minutes it is quiet about more of the same. Default: 60. */
  readonly repeatMinutes?: number | undefined;
}

export async function putAlert(db: Queryable, name: string, changes: AlertChanges): Promise<void> {
  const { endpoint, template, routingKey, streams, repeatMinutes } = changes;
  const given = { endpoint, template, routing_key: routingKey, streams, repeat_minutes: repeatMinutes };
  await call(db, "webhooks.put_alert", { p_name: name, p_changes: given });
}

export async function removeAlert(db: Queryable, name: string): Promise<void> {
  await call(db, "webhooks.remove_alert", { p_name: name });
}

export async function listAlerts(db: Queryable): Promise<Alert[]> {
  const rows = await call(db, "webhooks.list_alerts", {});
  return rows.map((row) => ({
    name: row.name,
    endpoint: row.endpoint,
    template: row.template,
    streams: row.streams,
    repeatMinutes: row.repeat_minutes,
    raised: row.raised,
    raisedSince: row.raised_since,
  }));
}

/**
 * Raises what is due, as a task of a relay. An alert is a row like any other, which a relay that serves its stream sends.
 */
export const raiseAlerts: Task = {
  name: "alerts",
  event: { level: "warn", event: "alerts_raised" },
  run: async (db) => ({ counts: { rows: await call(db, "webhooks.raise_alerts", {}) } }),
};
