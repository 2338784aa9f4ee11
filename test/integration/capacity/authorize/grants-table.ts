/**
 * Who may do what: every function, table and view of the workflow, and the roles that reach it.
 *
 * Does not own: the comparison with the catalogue.
 */

const acting = [
  "apply_capacity_event",
  "create_capacity_request",
  "decide_capacity_request",
  "erase_customer",
  "capacity_verdicts",
  "get_capacity_receipt",
  "get_capacity_request",
  "note_capacity_request",
  "nudge_capacity_request",
  "preview_capacity_request",
  "send_confirmation_link",
  "set_customer_address",
  "get_provisioning_job",
  "retry_provisioning_job",
  "fail_provisioning_job",
  "complete_provisioning_job",
  "clean_provisioning_job",
  "get_payment",
  "get_payments",
  "refund_payment",
  "end_subscription",
  "get_notification_preferences",
  "set_notification_preferences",
  "set_slack_webhook",
  "get_notification_template",
  "list_notification_templates",
  "preview_notification_template",
  "reset_notification_template",
  "set_notification_template",
].map((name) => `public.${name}`);
const byLink = [
  "begin_checkout",
  "decide_by_token",
  "describe_confirmation",
  "describe_unsubscribe",
  "get_checkout",
  "resubscribe",
  "unsubscribe",
].map((name) => `public.${name}`);
/** The steps of the self-service wizard. */
const ofWizard = ["begin_draft", "describe_draft", "save_draft", "send_draft_link", "submit_draft"].map(
  (name) => `public.${name}`,
);
/** What providers send, and the check before every request: open to everybody. */
const receiving = [
  "check_request",
  "handle_github_webhook",
  "handle_linear_webhook",
  "handle_provisioning_callback",
  "handle_slack_webhook",
  "handle_stripe_webhook",
].map((name) => `public.${name}`);
/** Our own server's functions, guarded by a purpose that no key carries. */
const ofServer = [
  "public.list_personas",
  "public.recently_told",
  "public.record_receipt",
  "public.sign_in_member",
  "public.webhook_keys",
];
const ofMembers = ["public.sign_out_everywhere", "public.who_am_i"];
const ofInbox = ["list_inbox", "mark_all_notifications_read", "mark_notification_read", "unread_notifications"].map(
  (name) => `public.${name}`,
);
/** Runs with the caller's rights on purpose: row-level security decides what it returns. */
export const asCaller = "public.recent_capacity_events";
const ofEndpoints = [
  "disable_endpoint",
  "enable_endpoint",
  "list_endpoints",
  "put_endpoint",
  "remove_endpoint",
  "rotate_endpoint_secret",
].map((name) => `public.${name}`);
const timers = "public.run_capacity_request_timers";
/** Notifying people, and sending what is due. */
const telling = "public.notify";
const dispatching = ["public.notification_dispatcher"];
const releasing = ["notify.dispatch", "notify.forget_old", "notify.release", "notify.send_due"];
/** Runs with its owner's rights; only a trigger calls it, and nobody else may. */
export const ofTriggers = ["notify.insert_notification"];
const ofViews = ["capacity.last_notified_at", "capacity.unasked", "directory.reader_key_valid", "notify.status_rules"];
const ofPolicies = ["named", "groups", "id", "owners", "roles", "workspace"].map((name) => `directory.reader_${name}`);
const auditing = [
  "billing.list_balance",
  "billing.list_findings",
  "billing.list_payments",
  "billing.list_prices",
  "billing.list_rates",
  "billing.list_reconciliations",
  "billing.list_settings",
  "billing.list_waiting",
  "billing.verify_payments",
  "billing.waiting_counts",
  "billing.workspace_needs",
  "capacity.list_heads",
  "capacity.list_linear_states",
  "capacity.list_policies",
  "capacity.list_requests",
  "capacity.list_subscriptions",
  "capacity.timers_last_ran",
  "capacity.verify_deliveries",
  "capacity.verify_extent",
  "capacity.verify_heads",
  "capacity.verify_requests",
  "capacity.verify_routes",
  "capacity.workspace_needs",
  "capacity.unlinked_reviewers",
  "directory.list_api_keys",
  "directory.list_groups",
  "directory.list_identities",
  "directory.list_identity_domains",
  "directory.list_members",
  "directory.list_workspaces",
  "notify.channel_figures",
  "notify.get_notification",
  "notify.list_notifications",
  "notify.list_producers",
  "notify.list_suppressions",
  "provisioning.job_counts",
  "provisioning.list_jobs",
  "provisioning.list_settings",
  "provisioning.verify_jobs",
];
const keeping = [
  "billing.put_price",
  "billing.put_settings",
  "billing.reconcile_payments",
  "billing.resolve_finding",
  "billing.set_rate",
  "billing.withdraw_price",
  "capacity.put_linear_state",
  "capacity.put_policy",
  "capacity.put_subscription",
  "capacity.remove_policy",
  "capacity.remove_subscription",
  "directory.put_api_key",
  "directory.put_group",
  "directory.put_identity",
  "directory.put_identity_domain",
  "directory.put_member",
  "directory.put_workspace",
  "directory.remove_group",
  "directory.remove_identity",
  "directory.remove_identity_domain",
  "directory.remove_member",
  "directory.revoke_api_key",
  "notify.add_producer",
  "notify.lift_suppression",
  "notify.remove_producer",
  "notify.resend",
  "notify.suppress_address",
  "provisioning.drop_previous_secret",
  "provisioning.put_secret",
  "provisioning.put_settings",
];

/** Every function of the workflow that a role other than its owner may execute. */
export const mayExecute: Readonly<Record<string, readonly string[]>> = {
  anon: [...byLink, ...ofWizard, ...receiving],
  authenticated: [
    ...acting,
    ...ofEndpoints,
    ...byLink,
    ...ofWizard,
    ...receiving,
    ...ofViews,
    ...ofPolicies,
    asCaller,
    ...ofMembers,
    ...ofInbox,
  ],
  service_role: [
    ...acting,
    ...ofEndpoints,
    ...byLink,
    ...ofWizard,
    ...receiving,
    ...ofViews,
    ...ofServer,
    asCaller,
    timers,
    telling,
    ...dispatching,
  ],
  headroom_executor: [
    "billing.proof_token",
    "billing.waiting_counts",
    "capacity.confirmation_token",
    "capacity.note_timers_failed",
    "capacity.run_timers",
    "capacity.timers_last_ran",
    "notify.carries_link",
    "notify.channel_figures",
    "notify.slack_webhook_for_relay",
    "notify.unsubscribe_token",
    "provisioning.job_counts",
    timers,
    ...dispatching,
    ...releasing,
  ],
  headroom_control: [...acting, ...ofViews, ...auditing, ...keeping, timers, telling, ...dispatching, ...releasing],
  headroom_auditor: [...ofViews, ...auditing],
};

export const views = [
  "billing_balance",
  "capacity_approval_latency",
  "capacity_backlog",
  "capacity_outcomes",
  "capacity_provisioning_duration",
  "capacity_request_events",
  "capacity_requests",
  "capacity_time_in_state",
  "notification_outbox",
  "notifications",
  "payments",
  "provisioning_jobs",
];
/** What is written to directly rather than by a function: an insert into it acts as a call. */
export const insertable: Readonly<Record<string, readonly string[]>> = {
  "public.notification_outbox": ["headroom_control", "service_role"],
};
/** Views that other views are built on; candidates is for the owner, and for roles that read the whole schema. */
export const inner = [
  "billing.balance",
  "billing.due",
  "billing.waiting",
  "capacity.candidates",
  "capacity.parties",
  "capacity.waits",
  "directory.standings",
  "notify.categories",
  "notify.channels",
  "notify.part_ends",
  "notify.part_stages",
  "notify.shown",
  "notify.statuses",
];
/** What the views read, for roles that have no other access to it. */
export const underViews = [
  "billing.disputes",
  "billing.entries",
  "billing.payments",
  "billing.refunds",
  "billing.subscriptions",
  "capacity.events",
  "capacity.free_texts",
  "capacity.personal_data",
  "capacity.request_captures",
  "capacity.request_customers",
  "capacity.requests",
  "directory.members",
  "directory.workspaces",
  "notify.notifications",
  "provisioning.attempts",
  "provisioning.jobs",
  "provisioning.steps",
];

/** Keys and lists that only the database uses, and what customers fill in. */
export const unreadable = [
  "billing.customers",
  "billing.draft_mails",
  "billing.drafts",
  "billing.due",
  "billing.sessions",
  "billing.sightings",
  "billing.waiting",
  "capacity.customer_keys",
  "notify.address_keys",
  "notify.categories",
  "notify.channels",
];
/** Views of a member's own things, which machines and operators have none of, and what these views read. */
export const ofOneMember: Readonly<Record<string, readonly string[]>> = {
  "public.notifications": ["authenticated"],
  "notify.shown": ["authenticated", "headroom_auditor", "headroom_control"],
};
/** Views that only operators and auditors read. */
export const ofOversight = ["capacity.candidates", "directory.standings", "notify.part_ends", "notify.part_stages"];

/** Tables of which members see some rows; of all others they see none. */
export const policies = {
  all_workspaces: "headroom_auditor,headroom_control",
  machines: "service_role",
  members: "authenticated",
} as const;
