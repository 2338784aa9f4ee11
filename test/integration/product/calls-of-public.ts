/** Calls of what members, machines, customers and providers change: the functions of `public`, and inserts. Part of the table in calls.ts. */
import { clickBody, commandBody, submissionBody, typed } from "../inbound/slack/slack.ts";
import { service } from "../capacity/gateway.ts";
import { ada, by, fresh, plain, purposed, rita, type Call } from "./call.ts";
import type { Installation } from "./installation.ts";

const event = (id: string): object => ({
  specversion: "1.0",
  id: `${id} ${fresh}`,
  source: "/shop",
  type: "order.paid",
  subject: id,
});

const command = (text: string, user?: string): Call => ({
  of: "public.handle_slack_webhook",
  args: { "": commandBody(text, user) },
});

export function writingOfPublic(installation: Installation): Call[] {
  const t = installation.things();
  const requests = [t.review, t.offered, t.opened, t.bought, t.failed, t.monthly];
  const job = { p_reason: "as told", p_actor_id: "otto" };
  return [
    ...plain(
      "public.apply_capacity_event",
      {
        p_request_id: t.review,
        p_event_type: "COMMERCIAL_APPROVED",
        p_actor_type: "user",
        p_actor_id: "cora",
        p_payload: {},
        p_expected_version: 1,
      },
      {
        p_request_id: t.offered,
        p_event_type: "CANCEL_APPROVED",
        p_actor_type: "user",
        p_actor_id: "ada",
        p_payload: { reason: "why" },
      },
      {
        p_request_id: t.opened,
        p_event_type: "CANCEL_APPROVED",
        p_actor_type: "user",
        p_actor_id: "ada",
        p_payload: { reason: "why" },
      },
      // With a job and a payment.
      {
        p_request_id: t.bought,
        p_event_type: "CANCEL_APPROVED",
        p_actor_type: "user",
        p_actor_id: "ada",
        p_payload: { reason: "why" },
      },
    ),
    ...plain("public.begin_checkout", { p_token: t.offerToken, p_entrance: "link" }, { p_token: t.checkoutToken }),
    ...plain("public.begin_draft", { p_workspace_id: "acme" }),
    ...plain("public.clean_provisioning_job", { p_job_id: t.uncleanedJob, ...job }),
    ...["complete", "fail", "retry"].flatMap((verb) =>
      plain(
        `public.${verb}_provisioning_job`,
        { p_job_id: t.failedJob, ...job, p_expected_version: 4 },
        { p_job_id: t.job, ...job },
      ),
    ),
    ...plain("public.create_capacity_request", {
      p_requester_user_id: "rita",
      p_commercial_owner_user_id: "cora",
      p_infra_owner_group: "infra",
      p_customer_ref: { org_id: "initech", name: "Initech", email: "buyer@initech.example" },
      p_requested_size: "32XL",
      p_quantity: 4,
      p_region: "us-east-1",
      p_needed_by_date: new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10),
      p_expected_duration_days: 30,
      p_estimated_monthly_cost_usd: 500,
      p_confirmation_ttl_days: 7,
      p_workspace_id: "acme",
      p_slack_channel_id: "C0ACME",
      p_idempotency_key: `key ${fresh}`,
      p_customer_id: "initech",
    }),
    ...plain(
      "public.decide_by_token",
      { p_token: t.offerToken, p_decision: "decline", p_reason: "too much" },
      { p_token: t.checkoutToken, p_decision: "decline" },
    ),
    ...plain(
      "public.decide_capacity_request",
      {
        p_request_id: t.review,
        p_event_type: "TECH_REVIEW_APPROVED",
        p_actor_id: "tess",
        p_payload: {},
        p_expected_version: 1,
      },
      { p_request_id: t.offered, p_event_type: "CUSTOMER_DECLINED", p_actor_id: "cora", p_payload: { reason: "why" } },
    ),
    ...plain("public.describe_draft", { p_workspace_id: "acme", p_token: t.draftToken }),
    ...by(
      ada,
      ...["disable", "enable", "remove"].flatMap((verb) =>
        plain(`public.${verb}_endpoint`, { p_name: "hook", p_workspace_id: "acme" }),
      ),
      ...plain("public.put_endpoint", {
        p_name: "hook",
        p_url: "https://hook.example/2",
        p_topics: ["capacity.*"],
        p_description: "a hook",
        p_headers: { "x-one": "1" },
      }),
      ...plain("public.rotate_endpoint_secret", { p_name: "hook", p_hours: 24 }),
    ),
    ...plain("public.end_subscription", { p_request_id: t.monthly, p_reason: "as agreed", p_actor_id: "otto" }),
    ...requests.flatMap((id) =>
      plain("public.erase_customer", { p_request_id: id, p_why: "they asked", p_actor_id: "ada" }),
    ),
    ...plain("public.handle_github_webhook", {
      "": JSON.stringify({
        action: "completed",
        workflow_run: { id: 7, display_title: `Provision ${t.job}/1`, status: "completed", conclusion: "failure" },
        repository: { full_name: "acme/infrastructure" },
      }),
    }),
    ...plain("public.handle_linear_webhook", {
      "": JSON.stringify({
        action: "create",
        type: "Comment",
        actor: { id: "u-ann", type: "user", name: "Ann" },
        webhookTimestamp: Date.now() + 30_000,
        data: { id: "22222222-2222-4222-8222-222222222222", body: "Looks good.", issueId: t.issue, userId: "u-ann" },
      }),
    }),
    ...plain("public.handle_provisioning_callback", {
      "": JSON.stringify({
        id: "33333333-3333-4333-8333-333333333333",
        workspace: "acme",
        job_id: t.job,
        task: "provision",
        attempt: 1,
        run_id: 7_000_000_002,
        run_attempt: 1,
        signal: "succeeded",
      }),
    }),
    command("list"),
    command(`approve ${t.review} technical`, "U0TESS"),
    command(`cancel ${t.offered} why`, "U0CORA"),
    command(`note ${t.review} a note`),
    command("create 32XL x4 us-east-1 owner cora group infra"),
    { of: "public.handle_slack_webhook", args: { "": clickBody("nudge", t.review, "U0RITA") } },
    {
      of: "public.handle_slack_webhook",
      args: {
        "": submissionBody(
          "capacity_reason",
          { reason: typed("why") },
          { request: t.review, action: "tech_reject" },
          "U0TESS",
        ),
      },
    },
    ...["completed", "expired"].flatMap((what) =>
      plain("public.handle_stripe_webhook", {
        "": JSON.stringify({
          id: `evt_${what}`,
          object: "event",
          type: `checkout.session.${what}`,
          created: Math.floor(Date.now() / 1000),
          livemode: false,
          data: {
            object: {
              ...installation.money.stripe.things.get(t.session),
              status: what === "completed" ? "complete" : "expired",
              payment_status: what === "completed" ? "paid" : "unpaid",
              customer: "cus_extreme",
              payment_intent: what === "completed" ? "pi_extreme" : null,
            },
          },
        }),
      }),
    ),
    ...by(
      rita,
      ...plain("public.mark_all_notifications_read", { p_before: "2030-01-01T00:00:00Z" }),
      ...plain("public.mark_notification_read", { p_id: t.notification }),
    ),
    ...[t.review, t.offered, t.bought].flatMap((id) =>
      plain("public.note_capacity_request", { p_request_id: id, p_body: "a note", p_actor_id: "ada" }),
    ),
    ...plain("public.notification_dispatcher"),
    ...plain("public.notify", {
      p_workspace_id: "acme",
      p_user_id: "rita",
      p_idempotency_key: `key ${fresh}`,
      p_title: "A title",
      p_body: "A body.",
      p_action_url: "https://acme.example/",
      p_channels: ["in-app", "email"],
      p_priority: 5,
      p_expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    }),
    ...plain("public.nudge_capacity_request", { p_request_id: t.review, p_actor_id: "rita" }),
    ...by(
      purposed("receive"),
      ...plain("public.record_receipt", {
        p_provider: "postal",
        p_receipt_id: `r-${fresh}`,
        p_kind: "MessageSent",
        p_payload: { payload: { timestamp: 1 } },
      }),
    ),
    ...plain("public.refund_payment", {
      p_payment_id: t.payment,
      p_reason: "as agreed",
      p_amount: 100,
      p_actor_id: "otto",
      p_left: 120_000,
    }),
    ...plain("public.reset_notification_template", {
      p_name: "webhook_gone",
      p_workspace_id: "acme",
      p_language: "en",
    }),
    ...plain("public.resubscribe", { p_token: t.unsubscribeToken }),
    ...plain("public.run_capacity_request_timers", { p_most: 200, p_runner: "call" }),
    ...plain("public.save_draft", {
      p_workspace_id: "acme",
      p_token: t.draftToken,
      p_step: 3,
      p_revision: 3,
      p_values: { name: "Another buyer", organisation: "Initech", email: "buyer@initech.example" },
    }),
    ...plain("public.send_confirmation_link", { p_request_id: t.offered, p_actor_id: "cora" }),
    ...plain("public.send_draft_link", { p_workspace_id: "acme", p_token: t.draftToken }),
    ...plain("public.set_customer_address", {
      p_request_id: t.offered,
      p_email: "other@initech.example",
      p_actor_id: "cora",
    }),
    ...plain("public.set_notification_preferences", {
      p_changes: {
        time_zone: "Europe/Berlin",
        quiet_from: "22:00",
        quiet_until: "07:00",
        digest_at: "10:00",
        choices: { requests: { email: "digest" } },
      },
      p_member_id: "rita",
      p_workspace_id: "acme",
    }),
    ...plain("public.set_notification_template", {
      p_name: "webhook_gone",
      p_title: "Gone for good",
      p_body: "It is gone.",
      p_workspace_id: "acme",
      p_language: "en",
    }),
    ...plain("public.set_slack_webhook", {
      p_url: "https://hooks.slack.com/services/T0/B0/x",
      p_member_id: "rita",
      p_workspace_id: "acme",
    }),
    ...by(
      purposed("sign_in"),
      ...plain("public.sign_in_member", {
        p_issuer: "https://id.example",
        p_subject: "tess-there",
        p_email: "tess@acme.example",
        p_email_verified: true,
      }),
    ),
    ...by(rita, ...plain("public.sign_out_everywhere")),
    ...plain("public.submit_draft", {
      p_workspace_id: "acme",
      p_token: t.proofToken,
      p_revision: 3,
      p_seen: t.seen,
    }),
    ...plain("public.unsubscribe", { p_token: t.unsubscribeToken }),
    ...["ledger.outbox_ledger", "payments.outbox_transfers"].flatMap((view) => [
      { of: `insert ${view}`, args: { payload: event("e1") }, rows: [{ payload: event("e2") }] },
      { of: `insert ${view}`, args: { payload: event("e2") }, rows: [{ payload: event("e1") }] },
    ]),
    {
      of: "insert public.notification_outbox",
      session: service,
      args: {
        workspace_id: "acme",
        user_id: "rita",
        idempotency_key: `by insert ${fresh}`,
        title: "A title",
        body: "A body.",
        channels: ["in-app", "email"],
        priority: 5,
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    },
  ];
}
