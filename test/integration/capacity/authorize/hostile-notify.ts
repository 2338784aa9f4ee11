/** What Globex's people try with notifications: part of the tables in hostile-table.ts. */
import type { FunctionRow } from "./hostile-table.ts";

const byLink: FunctionRow = { call: { p_token: "none" }, tries: { p_token: ["{token}", "{event}"] } };
const template = { p_name: ["{workspace}", "{key}"], p_workspace_id: ["{workspace}"], p_language: ["{key}"] };
const words = { p_title: ["of {workspace}, {{workspace}}"], p_body: ["of {workspace}, {{workspace}}"] };
const anyMember = ["{member}", "{slackUser}", "{email}"];

export const notifyFunctions: Readonly<Record<string, FunctionRow>> = {
  get_notification_preferences: {
    call: {},
    tries: { p_member_id: anyMember, p_workspace_id: ["{workspace}"] },
  },
  set_notification_preferences: {
    call: { p_changes: () => ({ digest_at: "10:00" }) },
    tries: {
      p_changes: [(fill) => ({ time_zone: fill("{workspace}") }), (fill) => ({ choices: { [fill("{key}")]: {} } })],
      p_member_id: anyMember,
      p_workspace_id: ["{workspace}"],
    },
  },
  list_inbox: { call: {}, tries: { p_older_than: ["{notification}", "{event}"], p_limit: [], p_about: ["{request}"] } },
  unread_notifications: { call: {}, tries: {} },
  mark_notification_read: { call: { p_id: "{notification}" }, tries: { p_id: ["{notification}", "{event}"] } },
  mark_all_notifications_read: { call: {}, tries: { p_before: [] } },
  describe_unsubscribe: byLink,
  unsubscribe: byLink,
  resubscribe: byLink,
  list_notification_templates: { call: {}, tries: { p_workspace_id: ["{workspace}"] } },
  get_notification_template: { call: { p_name: "offer" }, tries: template },
  preview_notification_template: { call: { p_name: "offer" }, tries: { ...template, ...words } },
  set_notification_template: {
    call: { p_name: "webhook_gone", p_title: "Gone", p_body: "It is gone." },
    tries: { ...template, ...words },
  },
  reset_notification_template: { call: { p_name: "webhook_gone" }, tries: template },
  set_slack_webhook: {
    call: { p_url: "none" },
    tries: { p_url: [], p_member_id: ["{member}", "{slackUser}", "{email}"], p_workspace_id: ["{workspace}"] },
  },
};

export const notifyViews: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  notification_outbox: {
    workspace_id: ["{workspace}"],
    user_id: ["{member}", "{slackUser}"],
    idempotency_key: ["{key}"],
    title: ["a title of {workspace}"],
    body: ["a body of {workspace}"],
    action_url: ["https://{workspace}.example/told"],
    status: [],
    error_message: [],
  },
  notifications: {
    title: ["a title of {workspace}"],
    body: ["a body of {workspace}"],
    action_url: ["https://{workspace}.example/told"],
    category: [],
    about: ["{request}"],
  },
};
