/**
 * How everything exposed is called: for each granted function, and each view that takes inserts, one or more calls that succeed. A function
 * without one fails the tests that go through them all; its call belongs in this table.
 *
 * Does not own: what the calls are about (installation.ts), nor what is asserted.
 */
import { ada, by, plain, purposed, rita, type Call } from "./call.ts";
import { writingOfOperators } from "./calls-of-operators.ts";
import { writingOfPublic } from "./calls-of-public.ts";
import type { Installation } from "./installation.ts";

/** Every function that changes something: volatile in the catalogue. */
export const writing = (installation: Installation): Call[] => [
  ...writingOfOperators(installation),
  ...writingOfPublic(installation),
];

/** Every function that changes nothing. One that is missing here is called without arguments, by every role that may. */
export function reading(installation: Installation): Call[] {
  const t = installation.things();
  const stream = installation.stream();
  return [
    ...plain("billing.list_balance", { p_workspace_id: "acme", p_from: "2026-01-01", p_to: "2030-01-01" }),
    ...plain("billing.list_findings", { p_all: true }),
    ...plain("billing.list_prices", { p_workspace_id: "acme" }),
    ...plain("billing.list_rates", { p_workspace_id: "acme" }),
    ...plain("capacity.confirmation_token", { p_token_id: t.offerTokenId }),
    ...plain("capacity.last_notified_at", { p_request_id: t.review }),
    ...plain("capacity.list_linear_states", { p_workspace_id: "acme" }),
    ...plain("capacity.list_policies", { p_workspace_id: "acme" }),
    ...plain("capacity.list_requests", { p_workspace_id: "acme" }),
    ...plain("capacity.list_subscriptions", { p_workspace_id: "acme" }),
    ...plain("capacity.unasked", { p_request_id: t.offered, p_state: "CUSTOMER_CONFIRMATION_REQUIRED" }),
    ...plain("capacity.verify_heads", { p_request_ids: [t.review], p_versions: [1], p_hashes: ["00"] }),
    ...plain("directory.list_groups", { p_workspace_id: "acme" }),
    ...plain("directory.list_identities", { p_workspace_id: "acme" }),
    ...plain("directory.list_identity_domains", { p_workspace_id: "acme" }),
    ...plain("directory.list_members", { p_workspace_id: "acme", p_inactive: true }),
    ...plain("notify.carries_link", { p_outbox_id: t.mailRow, p_link_id: t.offerTokenId }),
    ...plain("notify.get_notification", { p_id: t.mailed }),
    ...plain("notify.slack_webhook_for_relay", { p_outbox_id: t.slackRow }),
    ...plain("notify.unsubscribe_token", { p_notification_id: t.mailed, p_outbox_id: t.mailRow }),
    ...plain("outbox.count_dead", { p_from: "2026-01-01T00:00:00Z", p_to: "2030-01-01T00:00:00Z" }),
    ...plain("outbox.fill_binds", { p_outbox_ids: [t.waiting], p_captured: {} }),
    ...plain("outbox.inspect", { p_outbox_id: t.waiting }, { p_outbox_id: t.dead }),
    ...plain("outbox.list_dead", { p_from: "2026-01-01T00:00:00Z", p_to: "2030-01-01T00:00:00Z" }),
    ...plain("outbox.verify_keys", { p_stream: stream.name }),
    ...plain("outbox.verify_order", { p_stream: stream.name }),
    ...plain("public.describe_confirmation", { p_token: t.offerToken }),
    ...plain("public.describe_unsubscribe", { p_token: t.unsubscribeToken }),
    ...[t.review, t.offered, t.bought].flatMap((id) => plain("public.get_capacity_request", { p_request_id: id })),
    ...plain("public.capacity_verdicts", { p_request_ids: [t.review, t.bought], p_actor_id: "otto" }),
    ...plain("public.get_capacity_receipt", { p_request_id: t.review }, { p_request_id: t.bought, p_seq: 2 }),
    ...plain("public.get_checkout", { p_token: t.checkoutToken }),
    ...plain("public.get_notification_preferences", { p_member_id: "rita", p_workspace_id: "acme" }),
    ...plain("public.get_notification_template", { p_name: "offer", p_workspace_id: "acme" }),
    ...plain("public.get_payment", { p_payment_id: t.payment }),
    ...plain("public.get_payments", { p_request_id: t.bought }),
    ...plain("public.get_provisioning_job", { p_job_id: t.failedJob }),
    ...plain("public.list_endpoints", { p_workspace_id: "acme" }),
    ...by(rita, ...plain("public.list_inbox", { p_limit: 30 }), ...plain("public.unread_notifications")),
    ...plain("public.list_notification_templates", { p_workspace_id: "acme" }),
    ...by(purposed("persona"), ...plain("public.list_personas")),
    ...plain("public.preview_capacity_request", {
      p_requester_user_id: "rita",
      p_commercial_owner_user_id: "cora",
      p_infra_owner_group: "infra",
      p_requested_size: "32XL",
      p_quantity: 4,
      p_region: "us-east-1",
      p_estimated_monthly_cost_usd: 500,
      p_workspace_id: "acme",
      p_customer_ref: { name: "Initech" },
      p_expected_duration_days: 30,
    }),
    ...plain("public.preview_notification_template", { p_name: "offer", p_workspace_id: "acme" }),
    ...plain("public.recent_capacity_events", { p_since: 0, p_limit: 100 }),
    ...by(purposed("events"), ...plain("public.recently_told", { p_since: 0 })),
    ...by(purposed("receive"), ...plain("public.webhook_keys", { p_provider: "stripe" })),
    ...by(ada, ...plain("public.who_am_i")),
    ...plain("webhooks.endpoint_for_relay", { p_endpoint_id: t.endpoint }),
  ];
}
