/**
 * Buttons and forms: every one of them, by people who may and by people who may not, twice, and by two people at the same time.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { buttonsOf } from "../../capacity/story/block-kit.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { channel, clickBody, commandBody, sign, startSlack, submissionBody, typed } from "./slack.ts";

describe.each(POSTGRES_VERSIONS)("buttons and forms on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;

  beforeEach(() => slack.takeInteractions());

  const create = (): Promise<string> => workflow.createIn("UNDER_REVIEW", { channel });
  const offered = (): Promise<string> => workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { channel });

  /** Clicks, fills in the form that opens, and sends it. */
  async function because(action: string, id: string, user: string, reason: string | null) {
    expect(await slack.click(action, id, user)).toEqual({});
    const [opened] = await slack.takeInteractions();
    if (opened?.view === undefined) throw new Error(`No form was opened: ${JSON.stringify(opened)}`);
    const metadata = JSON.parse(opened.view.private_metadata) as object;
    return slack.submit(opened.view.callback_id, { reason: typed(reason) }, metadata, user);
  }

  test("a request goes from review to provisioning by buttons alone, and the log says who acted and through which entrance", async () => {
    const id = await create();
    for (const [action, user] of [
      ["tech_approve", "U0TESS"],
      ["commercial_approve", "U0CORA"],
      ["customer_confirm", "U0CORA"],
    ] as const)
      expect(await slack.click(action, id, user)).toEqual({});
    expect(await slack.takeInteractions()).toEqual([]);
    expect(await workflow.events(id)).toMatchObject([
      { event_type: "REQUEST_SUBMITTED" },
      { event_type: "TECH_REVIEW_APPROVED", actor_id: "tess", via: "slack" },
      { event_type: "COMMERCIAL_APPROVED", actor_id: "cora", via: "slack" },
      { event_type: "CUSTOMER_CONFIRMED", actor_id: "cora", via: "slack", payload: { on_behalf_of: "customer" } },
    ]);
    await workflow.expectWhole([id]);
  });

  test("every button that the messages show is understood", async () => {
    const known = await rowsOf<{ action: string }>(
      workflow.superuser,
      `select a as action from unnest($1::text[]) a where (inbound.action_event(a)).event_type is not null order by 1`,
      [
        [
          "cancel",
          "commercial_approve",
          "commercial_reject",
          "customer_confirm",
          "customer_decline",
          "tech_approve",
          "tech_reject",
        ],
      ],
    );
    const shown = new Set<string>();
    for (const id of [await create(), await offered()]) {
      const { blocks } = await slack.command(`show ${id}`, "U0CORA");
      for (const button of buttonsOf({ blocks: blocks ?? [] })) shown.add(button.action_id);
    }
    expect([...shown].toSorted()).toEqual(
      [...known.map(({ action }) => action), "customer_link", "note", "nudge"].toSorted(),
    );
  });

  test.each([
    ["commercial_reject", create, "U0CORA", "REJECTED", "COMMERCIAL_REJECTED"],
    ["tech_reject", create, "U0TIM", "REJECTED", "TECH_REVIEW_REJECTED"],
    ["customer_decline", offered, "U0CORA", "CANCELLED", "CUSTOMER_DECLINED"],
    ["cancel", create, "U0RITA", "CANCELLED", "CANCEL_APPROVED"],
  ] as const)("%s asks why in a form and then decides", async (action, make, user, state, event) => {
    const id = await make();
    expect(await because(action, id, user, "No + room = no 🚀")).toEqual({ response_action: "clear" });
    expect((await workflow.row(id)).state).toBe(state);
    const [last] = await rowsOf(
      workflow.superuser,
      "select event_type, payload ->> 'reason' as reason from public.capacity_request_events where capacity_request_id = $1 order by seq desc limit 1",
      [id],
    );
    expect(last).toEqual({ event_type: event, reason: "No + room = no 🚀" });
    expect((await slack.deliveries()).slice(-2)).toMatchObject([
      { kind: "action", outcome: "opened", request_id: id },
      { kind: "submission", outcome: "done", request_id: id },
    ]);
  });

  test("a rejection without a reason is refused at the field", async () => {
    const id = await create();
    const answer = await because("tech_reject", id, "U0TESS", "  ");
    expect(answer.response_action).toBe("errors");
    expect(answer.errors?.["reason"]).toBe(
      "A rejection or a cancellation needs a reason. Write it here. Nothing was changed.",
    );
    expect((await workflow.row(id)).version).toBe(1);
  });

  test.each([
    ["commercial_approve", "U0TESS", "Only the commercial owner"],
    ["commercial_approve", "U0RITA", "You cannot review your own request"],
    ["tech_approve", "U0CORA", "Only a member of the infra group"],
    ["tech_reject", "U0CORA", "Only a member of the infra group"],
    ["cancel", "U0CARL", "Only the requester or an admin"],
    ["customer_confirm", "U0RITA", "own request on the customer's behalf"],
    ["customer_decline", "U0TESS", "Only the customer"],
    ["commercial_approve", "U0GUS", "not an active member"],
  ])("%s by %s is answered by a note that only they see, and changes nothing", async (action, user, said) => {
    const id = await (action.startsWith("customer") ? offered() : create());
    const before = { ...(await workflow.size()), messages: 0 };
    expect(await slack.click(action, id, user)).toEqual({});
    expect(await slack.takeInteractions()).toMatchObject([{ method: "chat.postEphemeral", user, channel }]);
    expect({ ...(await workflow.size()), messages: 0 }).toEqual(before);
    expect((await slack.deliveries()).at(-1)).toMatchObject({ outcome: "refused" });
    expect((await slack.deliveries()).at(-1)?.refusal).toContain(said);
  });

  test("an unknown person becomes a requester by submitting, and never a reviewer", async () => {
    const id = await create();
    await slack.click("commercial_approve", id, "U0NEWCOMER");
    expect((await workflow.row(id)).version).toBe(1);
    const before = await rowsOf(
      workflow.superuser,
      "select id from directory.members where slack_user_id = 'U0NEWCOMER'",
    );
    expect(before).toEqual([]);
    await slack.command("create 32XL us-east-1 owner cora group infra", "U0NEWCOMER");
    expect(
      await rowsOf(
        workflow.superuser,
        "select id, roles, active from directory.members where slack_user_id = 'U0NEWCOMER'",
      ),
    ).toEqual([{ id: "U0NEWCOMER", roles: ["requester"], active: true }]);
    await slack.takeInteractions();
    await slack.click("commercial_approve", id, "U0NEWCOMER");
    expect((await slack.takeInteractions())[0]?.text).toContain("Only the commercial owner");
  });

  test("an approval by a person below the required authority is an endorsement, and the authority decides", async () => {
    await workflow.addPolicy({ id: "large", kind: "escalation", min_monthly_cost_usd: 100_000, approver_role: "vp" });
    const { id } = await workflow.create({ cost: 200_000, channel });
    await slack.click("commercial_approve", id, "U0CORA");
    expect((await workflow.row(id)).commercial_endorsed_by).toBe("cora");
    await slack.click("commercial_approve", id, "U0VERA");
    expect((await workflow.row(id)).commercial_approved_by).toBe("vera");
  });

  test("the second person to click is told who was first", async () => {
    const id = await create();
    await slack.click("tech_approve", id, "U0TESS");
    await slack.click("tech_approve", id, "U0TIM");
    await slack.click("tech_approve", id, "U0TESS");
    const notes = await slack.takeInteractions();
    expect(notes[0]?.text).toMatch(
      /^Tess already approved the technical review of CR-\S+, \d+ seconds? ago, in Slack\./,
    );
    expect(notes[1]?.text).toMatch(/^You already approved the technical review/);
    expect(await workflow.events(id)).toHaveLength(2);
  });

  test("two clicks at the same time on two connections: one wins, and the other waits and is told who won", async () => {
    const id = await create();
    const [first, second] = [await slack.begin(), await slack.begin()];
    await slack.sendIn(first, sign(clickBody("tech_approve", id, "U0TESS")));
    const losing = slack.sendIn(second, sign(clickBody("tech_approve", id, "U0TIM")));
    await workflow.db.waitUntilBlocked(second);
    await first.query("commit");
    expect(await losing).toEqual({});
    await second.query("commit");
    expect((await workflow.row(id)).technical_approved_by).toBe("tess");
    expect((await slack.takeInteractions()).map((note) => [note.user, note.text?.slice(0, 21)])).toEqual([
      ["U0TIM", "Tess already approved"],
    ]);
    await Promise.all([first.end(), second.end()]);
    await workflow.expectWhole([id]);
  });

  test("a rejection while another person approves: the loser of the race is told the request's new state", async () => {
    const id = await create();
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    const [first, second] = [await slack.begin(), await slack.begin()];
    await slack.sendIn(
      first,
      sign(
        submissionBody("capacity_reason", { reason: typed("no") }, { request: id, action: "tech_reject" }, "U0TESS"),
      ),
    );
    const losing = slack.sendIn(second, sign(clickBody("tech_approve", id, "U0TIM")));
    await workflow.db.waitUntilBlocked(second);
    await first.query("commit");
    await losing;
    await second.query("commit");
    expect((await workflow.row(id)).state).toBe("REJECTED");
    const [told] = await slack.takeInteractions();
    expect(told?.text).toContain(`${id} is rejected. Tess rejected the request`);
    expect(told?.text).toMatch(/That was \d+ seconds? ago, in Slack\. Nothing was changed\./);
    await Promise.all([first.end(), second.end()]);
  });

  test("a form that was open while another person decided is answered with who did", async () => {
    const id = await create();
    await slack.click("cancel", id, "U0RITA");
    const [opened] = await slack.takeInteractions();
    await workflow.apply(id, "TECH_REVIEW_REJECTED", "tess");
    const answer = await slack.submit(
      "capacity_reason",
      { reason: typed("late") },
      JSON.parse(opened?.view?.private_metadata ?? "{}") as object,
      "U0RITA",
    );
    expect(answer.errors?.["reason"]).toContain("Tess rejected the request");
    await slack.click("cancel", id, "U0RITA");
    expect((await slack.takeInteractions())[0]?.text).toContain("Tess rejected the request");
  });

  test("the same click delivered twice decides once, even at the same instant", async () => {
    const id = await create();
    const signed = sign(clickBody("tech_approve", id, "U0TESS"));
    const [first, second] = [await slack.begin(), await slack.begin()];
    await slack.sendIn(first, signed);
    const repeated = slack.sendIn(second, signed);
    await workflow.db.waitUntilBlocked(second);
    await first.query("commit");
    expect(await repeated).toEqual({});
    await second.query("commit");
    await Promise.all([first.end(), second.end()]);
    expect(await slack.send(signed)).toEqual({});
    expect(await slack.takeInteractions()).toEqual([]);
    expect(await workflow.events(id)).toHaveLength(2);
  });

  test("a retry of a delivery whose first try failed is handled", async () => {
    const id = await create();
    const signed = sign(clickBody("tech_approve", id, "U0TESS"));
    const failing = await slack.begin();
    await slack.sendIn(failing, signed);
    await failing.query("rollback");
    await failing.end();
    await slack.send({
      ...signed,
      headers: { ...signed.headers, "x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout" },
    });
    expect((await workflow.row(id)).technical_approved_by).toBe("tess");
  });

  test("a command delivered twice makes one request, and the second answer names it", async () => {
    const signed = sign(commandBody("create 32XL us-east-1 owner cora group infra"));
    const before = await workflow.size();
    const id = /CR-\d{4}-\d+/.exec((await slack.send(signed)).text ?? "")?.[0];
    expect((await slack.send(signed)).text).toBe(`This was already done: ${id}.`);
    expect((await workflow.size())["requests"]).toBe((before["requests"] ?? 0) + 1);
  });

  test("a request of another workspace does not exist for a click", async () => {
    const { id } = await workflow
      .create({ requester: "rita", workspace: "globex", owner: "glen", group: "infra" })
      .catch(() => ({ id: "CR-2026-999999" }));
    await slack.click("commercial_approve", id, "U0CORA");
    expect((await slack.takeInteractions())[0]?.text).toContain("There is no such request");
  });

  const intake = {
    size: typed("32XL"),
    quantity: { type: "number_input", value: "2" },
    region: typed("us-east-1"),
    customer: typed("Acme + Co = 🚀"),
    email: { type: "email_text_input", value: null },
    needed_by: { type: "datepicker", selected_date: "2027-12-01" },
    days: { type: "number_input", value: null },
    cost: { type: "number_input", value: "99.50" },
    justification: typed(" We launch\n\nin March. "),
    owner: { type: "users_select", selected_user: "U0CORA" },
    group: { type: "static_select", selected_option: { text: { type: "plain_text", text: "Infra" }, value: "infra" } },
  };

  test("the form makes a request, closes, and the answer is posted where it was opened", async () => {
    await rowsOf(workflow.superuser, "update directory.workspaces set public_url = 'https://cap.acme.example'");
    const given = { ...intake, email: { type: "email_text_input", value: "ann@acme.example" } };
    expect(await slack.submit("capacity_intake", given, { channel }, "U0RITA")).toEqual({ response_action: "clear" });
    const { request_id: id } = (await slack.deliveries()).at(-1)!;
    expect(await workflow.row(id!)).toMatchObject({
      requested_size: "32XL",
      quantity: 2,
      customer_ref: { name: "Acme + Co = 🚀", email: "ann@acme.example" },
      needed_by_date: "2027-12-01",
      estimated_monthly_cost_usd: "99.50",
      justification: "We launch\n\nin March.",
      commercial_owner_user_id: "cora",
      infra_owner_group: "infra",
    });
    expect(await slack.takeInteractions()).toMatchObject([
      { method: "chat.postEphemeral", channel, user: "U0RITA", text: `${id} is under review.` },
    ]);
  });

  test.each([
    ["size", { size: typed("not a size!") }, "32XL"],
    ["quantity", { quantity: { type: "number_input", value: "many" } }, "whole number"],
    ["quantity", { quantity: { type: "number_input", value: "0" } }, "1 to 10000"],
    ["region", { region: typed("Übersee") }, "us-east-1"],
    ["needed_by", { needed_by: { type: "datepicker", selected_date: "2020-01-01" } }, "past"],
    ["email", { email: { type: "email_text_input", value: "x" } }, "e-mail"],
    ["justification", { justification: typed("x".repeat(2001)) }, "2000 characters"],
    ["owner", { owner: { type: "users_select", selected_user: "U0RITA" } }, "commercial"],
    ["owner", { owner: { type: "users_select", selected_user: null } }, "commercial"],
    ["group", { group: { type: "static_select", selected_option: null } }, "technical"],
  ])("a fault in %s is reported there, and nothing is submitted", async (field, changed, said) => {
    const before = await workflow.size();
    const answer = await slack.submit("capacity_intake", { ...intake, ...changed }, { channel }, "U0RITA");
    expect(answer.response_action).toBe("errors");
    expect(Object.keys(answer.errors ?? {})).toEqual([field]);
    expect(answer.errors?.[field]).toContain(said);
    expect(await workflow.size()).toEqual(before);
  });

  test("a form that was refused and comes again is answered at the same field", async () => {
    const wrong = { ...intake, group: { type: "static_select", selected_option: null } };
    const signed = sign(submissionBody("capacity_intake", wrong, { channel }, "U0RITA"));
    expect(Object.keys((await slack.send(signed)).errors ?? {})).toEqual(["group"]);
    expect(Object.keys((await slack.send(signed)).errors ?? {})).toEqual(["group"]);
  });

  test("a fault in a form whose answer may be too late is also reported in the conversation where it was opened", async () => {
    const wrong = { ...intake, quantity: typed("many") };
    const answer = await slack.submit("capacity_intake", wrong, { channel }, "U0RITA", 2);
    expect(answer.response_action).toBe("errors");
    expect(await slack.takeInteractions()).toMatchObject([
      { method: "chat.postEphemeral", rail: "slack-interaction", channel, user: "U0RITA" },
    ]);
    await slack.submit("capacity_intake", wrong, { channel }, "U0RITA");
    expect(await slack.takeInteractions()).toEqual([]);
  });

  test("where a form names no channel, its sender is told directly", async () => {
    const reason = { reason: typed("no room") };
    const metadata = { request: "CR-2026-999999", action: "tech_reject" };
    await slack.submit("capacity_reason", reason, metadata, "U0TESS", 2);
    expect(await slack.takeInteractions()).toMatchObject([
      {
        method: "chat.postMessage",
        rail: "slack",
        channel: "U0TESS",
        text: expect.stringMatching(/^Your form was not submitted\. There is no such request/),
      },
    ]);
  });

  test("several wrong fields are all named", async () => {
    const answer = await slack.submit(
      "capacity_intake",
      { ...intake, quantity: typed("x"), cost: typed("y"), email: typed("z") },
      {},
      "U0RITA",
    );
    expect(Object.keys(answer.errors ?? {}).toSorted()).toEqual(["cost", "email", "quantity"]);
  });

  test("buttons, forms and events of other apps are acknowledged and ignored", async () => {
    const id = await create();
    expect(await slack.click("open_link", id, "U0CORA")).toEqual({});
    expect(await slack.submit("somebody_elses", {}, {}, "U0CORA")).toEqual({});
    expect(
      await slack.send(
        sign(JSON.stringify({ type: "event_callback", event_id: "Ev1", event: { type: "app_home_opened" } })),
      ),
    ).toEqual({});
    expect((await slack.deliveries()).slice(-3).map((delivery) => delivery.outcome)).toEqual([
      "ignored",
      "ignored",
      "ignored",
    ]);
    expect(await slack.takeInteractions()).toEqual([]);
  });

  test("Slack's URL verification requests are answered, and leave nothing behind", async () => {
    const before = await slack.written();
    expect(await slack.send(sign(JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aB" })))).toEqual({
      challenge: "3eZbrw1aB",
    });
    expect(await slack.send(sign("ssl_check=1&token=x"))).toEqual({});
    expect(await slack.written()).toEqual(before);
  });
});
