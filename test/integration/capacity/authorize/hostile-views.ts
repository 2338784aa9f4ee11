/** What Globex's people search each view for: part of the table in hostile-table.ts. */
import { notifyViews } from "./hostile-notify.ts";

const anyRequest = ["{request}", "{closed}", "{offered}"];
const byMember = ["{member}"];
const byDay = { workspace_id: ["{workspace}"] };

/** Columns that hold texts, and what the rows are searched by. */
export const views: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  capacity_requests: {
    id: anyRequest,
    requester_user_id: byMember,
    commercial_owner_user_id: byMember,
    infra_owner_group: ["{group}"],
    requested_size: [],
    region: [],
    slack_channel_id: ["{channel}"],
    slack_thread_ts: ["{thread}"],
    linear_issue_id: ["{issue}"],
    cancellation_reason: ["a reason of {workspace}"],
    cancellation_authorizer_user_id: byMember,
    workspace_id: ["{workspace}"],
    replaces_request_id: ["{closed}"],
    commercial_endorsed_by: byMember,
    commercial_approved_by: byMember,
    technical_approved_by: byMember,
    rejection_reason: ["a reason of {workspace}"],
    justification: ["what {workspace} needs it for"],
    customer_unasked: [],
    customer_id: ["{customerId}", "{customerKey}"],
  },
  capacity_request_events: {
    capacity_request_id: anyRequest,
    actor_id: byMember,
    via: [],
    hash: ["{hash}"],
  },
  capacity_approval_latency: { ...byDay, step: [] },
  capacity_backlog: { ...byDay, stage: [], waits_on_kind: [], waits_on: ["{member}", "{group}"] },
  capacity_outcomes: byDay,
  ...notifyViews,
  capacity_provisioning_duration: byDay,
  capacity_time_in_state: byDay,
  billing_balance: { ...byDay, currency: [] },
  payments: {
    ...byDay,
    request_id: anyRequest,
    purpose: [],
    currency: [],
    refund_reason: [],
    dispute: [],
    payment_intent: [],
  },
  provisioning_jobs: {
    ...byDay,
    request_id: anyRequest,
    state: [],
    region: [],
    run_url: [],
    cleanup: [],
    step: [],
    error: [],
    failed_step: [],
    ended_because: [],
  },
};
