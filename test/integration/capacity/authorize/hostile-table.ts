/**
 * What Globex's people try: every function and view that they or anonymous users reach, and for each argument and column, the things of
 * another workspace that could go there. An empty list says that the argument names nothing.
 *
 * On each line, the answer about Zebra's thing must equal the answer about one that does not exist: the same rows, or the same SQLSTATE,
 * message, detail and hint. And every answer must be the same whether or not Zebra exists, and however active it is.
 *
 * Does not own: calling and comparing.
 */
import { notifyFunctions } from "./hostile-notify.ts";
import { wizardFunctions } from "./hostile-wizard.ts";
import { clickBody, commandBody, submissionBody, typed } from "../../inbound/slack/slack.ts";

/** Replaces `{thing}` in a text by the thing, and records which things were named. */
export type Fill = (template: string) => string;

/** The value of an argument: a text with things in it, or something made of such texts. */
export type Try = string | ((fill: Fill) => unknown);

export interface FunctionRow {
  /** A call as the workspace's own people make it; omitted arguments keep their defaults. */
  readonly call: Readonly<Record<string, Try>>;
  readonly tries: Readonly<Record<string, readonly Try[]>>;
}

const anyRequest = ["{request}", "{closed}", "{offered}"];
const anyMember = ["{member}", "{slackUser}", "{email}"];
const jobTries = {
  p_job_id: [...anyRequest, "{event}"],
  p_reason: ["as in {request}"],
  p_actor_id: anyMember,
  p_expected_version: [],
};
const terms = { p_requested_size: "32XL", p_quantity: "4", p_region: "us-east-1" };
const termsTries = {
  p_requested_size: [],
  p_quantity: [],
  p_region: [],
  p_expected_duration_days: [],
  p_estimated_monthly_cost_usd: [],
  p_customer_ref: [(fill: Fill) => ({ name: fill("{customer}"), email: fill("{email}") })],
  p_customer_id: ["{customerId}", "{customerUnderWay}"],
  p_justification: ["what {workspace} needs it for"],
};
const plan = { p_commercial_owner_user_id: "cora", p_infra_owner_group: "infra" };
const planTries = {
  p_requester_user_id: anyMember,
  p_commercial_owner_user_id: anyMember,
  p_infra_owner_group: ["{group}"],
  p_workspace_id: ["{workspace}"],
  p_slack_channel_id: ["{channel}"],
};

const rex = "U0GLOBEX1";
const command =
  (text: string, user = rex, more: Record<string, string> = {}): Try =>
  (fill) =>
    commandBody(
      fill(text),
      fill(user),
      Object.fromEntries(Object.entries(more).map(([field, value]) => [field, fill(value)])),
    );
const click =
  (action: string, request: string, more: object = {}): Try =>
  (fill) =>
    clickBody(action, fill(request), rex, JSON.parse(fill(JSON.stringify(more))) as object);
const sent =
  (callback: string, entered: Readonly<Record<string, object>>, request: string): Try =>
  (fill) =>
    submissionBody(
      callback,
      JSON.parse(fill(JSON.stringify(entered))) as Readonly<Record<string, object>>,
      { request: fill(request) },
      rex,
    );
const reason =
  (action: string, request: string): Try =>
  (fill) =>
    submissionBody("capacity_reason", { reason: typed("why") }, { request: fill(request), action }, rex);
const intake =
  (metadata: Record<string, string>, owner = "", group = ""): Try =>
  (fill) =>
    submissionBody(
      "capacity_intake",
      {
        size: typed("32XL"),
        region: typed("us-east-1"),
        ...(owner === "" ? {} : { owner: { type: "users_select", selected_user: fill(owner) } }),
        ...(group === "" ? {} : { group: { type: "static_select", selected_option: { value: fill(group) } } }),
      },
      Object.fromEntries(Object.entries(metadata).map(([field, value]) => [field, fill(value)])),
      rex,
    );

const made = "create 32XL x4 us-east-1 owner cora group infra";

export const functions: Readonly<Record<string, FunctionRow>> = {
  create_capacity_request: {
    call: {
      p_requester_user_id: () => null,
      ...plan,
      p_customer_ref: () => ({ name: "A buyer" }),
      ...terms,
      p_needed_by_date: () => null,
      p_expected_duration_days: "30",
    },
    tries: {
      ...planTries,
      ...termsTries,
      p_needed_by_date: [],
      p_confirmation_ttl_days: [],
      p_idempotency_key: ["{key}", "{keyUnderWay}"],
      p_replaces_request_id: anyRequest,
    },
  },
  preview_capacity_request: {
    call: { p_requester_user_id: () => null, ...plan, ...terms },
    tries: {
      ...planTries,
      ...termsTries,
    },
  },
  apply_capacity_event: {
    call: {
      p_request_id: "{request}",
      p_event_type: "CANCEL_APPROVED",
      p_actor_type: "user",
      p_actor_id: () => null,
      p_payload: () => ({ reason: "why" }),
    },
    tries: {
      p_request_id: anyRequest,
      p_event_type: [],
      p_actor_type: [],
      p_actor_id: anyMember,
      p_payload: [(fill) => ({ reason: fill("as in {request}") })],
      p_expected_version: [],
    },
  },
  decide_capacity_request: {
    call: { p_request_id: "{request}", p_event_type: "REQUEST_SUBMITTED" },
    tries: {
      p_request_id: anyRequest,
      p_event_type: [],
      p_actor_id: anyMember,
      p_payload: [(fill) => ({ confirmation_token_id: fill("{event}") })],
      p_expected_version: [],
    },
  },
  capacity_verdicts: {
    call: { p_request_ids: (fill) => [fill("{request}")] },
    tries: { p_request_ids: [(fill) => [fill("{request}")]], p_actions: [], p_actor_id: anyMember },
  },
  get_capacity_receipt: { call: { p_request_id: "{request}" }, tries: { p_request_id: anyRequest, p_seq: [] } },
  get_capacity_request: { call: { p_request_id: "{request}" }, tries: { p_request_id: anyRequest } },
  get_provisioning_job: { call: { p_job_id: "{request}" }, tries: { p_job_id: [...anyRequest, "{event}"] } },
  retry_provisioning_job: {
    call: { p_job_id: "{request}", p_reason: "why" },
    tries: jobTries,
  },
  fail_provisioning_job: {
    call: { p_job_id: "{request}", p_reason: "why" },
    tries: jobTries,
  },
  complete_provisioning_job: {
    call: { p_job_id: "{request}", p_reason: "why" },
    tries: jobTries,
  },
  clean_provisioning_job: {
    call: { p_job_id: "{request}", p_reason: "why" },
    tries: jobTries,
  },
  get_payment: { call: { p_payment_id: "none" }, tries: { p_payment_id: [...anyRequest, "{event}"] } },
  get_payments: { call: { p_request_id: "{request}" }, tries: { p_request_id: anyRequest } },
  refund_payment: {
    call: { p_payment_id: "none", p_reason: "why" },
    tries: {
      p_payment_id: [...anyRequest, "{event}"],
      p_reason: ["as in {request}"],
      p_amount: [],
      p_left: [],
      p_actor_id: anyMember,
    },
  },
  end_subscription: {
    call: { p_request_id: "{request}", p_reason: "why" },
    tries: { p_request_id: anyRequest, p_reason: ["as in {request}"], p_actor_id: anyMember },
  },
  nudge_capacity_request: {
    call: { p_request_id: "{request}" },
    tries: { p_request_id: anyRequest, p_actor_id: anyMember },
  },
  note_capacity_request: {
    call: { p_request_id: "{request}", p_body: "a note" },
    tries: {
      p_request_id: anyRequest,
      p_body: ["see {request}, <@{slackUser}> in <#{channel}>"],
      p_actor_id: anyMember,
    },
  },
  set_customer_address: {
    call: { p_request_id: "{request}", p_email: "a@b.example" },
    tries: { p_request_id: anyRequest, p_email: ["{email}"], p_actor_id: anyMember },
  },
  send_confirmation_link: {
    call: { p_request_id: "{offered}" },
    tries: { p_request_id: anyRequest, p_actor_id: anyMember },
  },
  erase_customer: {
    call: { p_request_id: "{closed}", p_why: "asked to" },
    tries: { p_request_id: anyRequest, p_why: ["as in {request}"], p_actor_id: anyMember },
  },
  describe_confirmation: { call: { p_token: "none" }, tries: { p_token: ["{token}", "{event}"] } },
  decide_by_token: {
    call: { p_token: "none", p_decision: "confirm" },
    tries: { p_token: ["{token}"], p_decision: [], p_reason: ["as in {request}"] },
  },
  ...wizardFunctions,
  ...notifyFunctions,
  begin_checkout: { call: { p_token: "none" }, tries: { p_token: ["{token}", "{event}"], p_entrance: [] } },
  get_checkout: { call: { p_token: "none" }, tries: { p_token: ["{token}", "{event}"] } },
  who_am_i: { call: {}, tries: {} },
  sign_out_everywhere: { call: {}, tries: {} },
  check_request: { call: {}, tries: {} },
  recent_capacity_events: { call: { p_since: "0" }, tries: { p_since: [], p_limit: [] } },
  list_endpoints: { call: {}, tries: { p_workspace_id: ["{workspace}"] } },
  put_endpoint: {
    call: { p_name: "another-hook", p_url: "https://example.com/hook" },
    tries: {
      p_name: ["{endpoint}", "{endpointUnderWay}"],
      p_url: ["https://{workspace}.example/hook"],
      p_topics: [],
      p_description: ["as {endpoint}"],
      p_headers: [],
      p_workspace_id: ["{workspace}"],
    },
  },
  remove_endpoint: {
    call: { p_name: "globex-hook" },
    tries: { p_name: ["{endpoint}", "{endpointUnderWay}"], p_workspace_id: ["{workspace}"] },
  },
  rotate_endpoint_secret: {
    call: { p_name: "globex-hook" },
    tries: { p_name: ["{endpoint}", "{endpointUnderWay}"], p_hours: [], p_workspace_id: ["{workspace}"] },
  },
  enable_endpoint: {
    call: { p_name: "globex-hook" },
    tries: { p_name: ["{endpoint}", "{endpointUnderWay}"], p_workspace_id: ["{workspace}"] },
  },
  disable_endpoint: {
    call: { p_name: "globex-hook" },
    tries: {
      p_name: ["{endpoint}", "{endpointUnderWay}"],
      p_reason: ["as {endpoint}"],
      p_workspace_id: ["{workspace}"],
    },
  },
  handle_slack_webhook: {
    call: { $1: command("list") },
    tries: {
      $1: [
        ...[
          "show",
          "approve",
          "reject",
          "confirm",
          "decline",
          "cancel",
          "nudge",
          "note",
          "link",
          "address",
          "retry",
        ].flatMap((verb) => [command(`${verb} {request}`), command(`${verb} {closed} why`)]),
        command("address {offered} a@b.example"),
        command("note {offered} see {request}"),
        command("approve {request} technical"),
        command(`${made} replaces {closed}`),
        command("create 32XL us-east-1 group infra owner <@{slackUser}>"),
        command("create 32XL us-east-1 group infra owner {member}"),
        command("create 32XL us-east-1 owner cora group {group}"),
        command("32XL us-east-1 owner {member}"),
        command("list", rex, { channel_id: "{channel}" }),
        command("list", "{slackUser}"),
        ...[
          "tech_approve",
          "commercial_approve",
          "cancel",
          "tech_reject",
          "customer_confirm",
          "nudge",
          "note",
          "customer_link",
          "job_retry",
          "job_fail",
          "job_complete",
        ].map((action) => click(action, "{request}")),
        click("cancel", "{request}", {
          message: { ts: "{thread}", thread_ts: "{thread}" },
          channel: { id: "{channel}" },
        }),
        click("cancel", "{request}", {
          team: null,
          user: { id: rex, team_id: "{team}" },
          enterprise: { id: "E0NOBODY" },
        }),
        reason("cancel", "{request}"),
        reason("tech_reject", "{closed}"),
        reason("job_retry", "{request}"),
        reason("job_fail", "{closed}"),
        sent("capacity_note", { note: typed("hello") }, "{request}"),
        sent("capacity_link", { email: typed("a@b.example") }, "{offered}"),
        sent("capacity_link", { email: typed("{email}") }, "{offered}"),
        intake({}, "{slackUser}", "infra"),
        intake({}, rex, "{group}"),
      ],
    },
  },
  /** Without a valid signature: Globex cannot speak for Linear. */
  handle_linear_webhook: {
    call: { $1: "{}" },
    tries: { $1: [(fill) => JSON.stringify({ type: "Issue", action: "remove", data: { id: fill("{issue}") } })] },
  },
  /** Without a valid signature, too: what a workspace's own secret can do to another is tested in test/integration/provisioning. */
  handle_github_webhook: {
    call: { $1: "{}" },
    tries: {
      $1: [(fill) => JSON.stringify({ action: "completed", workflow_run: { display_title: fill("{event}/1") } })],
    },
  },
  handle_stripe_webhook: {
    call: { $1: "{}" },
    tries: {
      $1: [
        (fill) =>
          JSON.stringify({ id: "evt_1", data: { object: { metadata: { headroom_request: fill("{request}") } } } }),
      ],
    },
  },
  handle_provisioning_callback: {
    call: { $1: "{}" },
    tries: { $1: [(fill) => JSON.stringify({ workspace: fill("{workspace}"), job_id: fill("{event}") })] },
  },
};
