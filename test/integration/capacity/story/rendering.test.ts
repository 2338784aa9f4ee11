/**
 * Rendering: each surface's text, word by word. That no input can break it is tested in rendering-limits.test.ts.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { contentTypeOf, isObject, validateEnvelope } from "../../../../src/rails/webhook/cloudevents.ts";
import type { Json } from "../../../../src/contract/rail.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { buttonsOf, complaintsAbout, type Message } from "./block-kit.ts";
import { type Mail, render, root, tell } from "./renderers.ts";
import { confirmationRequired, rejected, type Story, submitted } from "./story.ts";
import { oneOf } from "../harness.ts";

const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } });
const field = (name: string, value: string) => ({ type: "mrkdwn", text: `*${name}*\n${value}` });

const time = (seconds: number, plain: string) => `<!date^${seconds}^{date_short_pretty} {time}|${plain}>`;

const facts = [
  field("Requester", "Rita"),
  field("Customer", "Initech"),
  field("Needed by", "2026-02-01"),
  field("For", "30 days"),
  field("Estimated cost", "USD 12,500.00 a month"),
];

const button = (action_id: string, text: string, accessibility_label: string, style?: string) => ({
  type: "button",
  action_id,
  value: "CR-2026-000042",
  text: { type: "plain_text", text },
  accessibility_label,
  ...(style === undefined ? {} : { style }),
});

const buttons = (block_id: string, ...elements: object[]) => ({ type: "actions", block_id, elements });

const actionsOf = (message: Message): string[] => buttonsOf(message).map(({ action_id }) => action_id);

describe.each(POSTGRES_VERSIONS)("messages on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  beforeAll(async () => {
    await db.superuser.pool.query("insert into directory.workspaces (id, name) values ('acme', 'Acme')");
  });

  test("the root of a new request: its facts, both reviews with the people who are asked, and a button for each decision", async () => {
    const message = await root(db, submitted);
    const sentence = "Rita asks for 4 × 32XL in us-east-1.";
    expect(message).toEqual({
      method: "chat.postMessage",
      channel: "C0CAPACITY",
      text: `CR-2026-000042: 4 × 32XL in us-east-1 (under review). ${sentence}`,
      metadata: {
        event_type: "capacity_request",
        event_payload: { cr_id: "CR-2026-000042", instruction_id: "CR-2026-000042#1", effect: "slack:root" },
      },
      blocks: [
        { type: "header", text: { type: "plain_text", text: "CR-2026-000042: 4 × 32XL in us-east-1" } },
        { type: "section", fields: [field("State", "under review"), ...facts] },
        section(":hourglass_flowing_sand: *Commercial review*: waiting for <@U0CORA>"),
        buttons(
          "commercial_buttons",
          button("commercial_approve", "Approve commercially", "Approve commercially: CR-2026-000042", "primary"),
          button("commercial_reject", "Reject", "Reject in the commercial review: CR-2026-000042", "danger"),
        ),
        section(":hourglass_flowing_sand: *Technical review*: waiting for <@U0TESS>, Tim"),
        buttons(
          "technical_buttons",
          button("tech_approve", "Approve technically", "Approve technically: CR-2026-000042", "primary"),
          button("tech_reject", "Reject", "Reject in the technical review: CR-2026-000042", "danger"),
        ),
        {
          type: "context",
          elements: [
            { type: "mrkdwn", text: `${sentence} <!date^1767348000^{date_short_pretty} {time}|2026-01-02 10:00 UTC>` },
          ],
        },
        buttons(
          "request_buttons",
          button("nudge", "Nudge", "Nudge: remind those whom CR-2026-000042 waits on"),
          button("note", "Add a note", "Add a note to CR-2026-000042"),
          button("cancel", "Cancel request", "Cancel request CR-2026-000042"),
        ),
      ],
    });
    expect(complaintsAbout(message)).toEqual([]);
  });

  test("the root after both approvals: who decided when, and buttons for the customer's answer only", async () => {
    const message = await root(db, confirmationRequired, "chat.update");
    expect(message.method).toBe("chat.update");
    expect(message.blocks.slice(1, 4)).toEqual([
      { type: "section", fields: [field("State", "waiting for the customer"), ...facts] },
      section(
        `:white_check_mark: *Commercial review*: approved by Cora, ${time(1_767_351_600, "2026-01-02 11:00 UTC")}`,
      ),
      section(
        `:white_check_mark: *Technical review*: approved by Tess, ${time(1_767_434_400, "2026-01-03 10:00 UTC")}`,
      ),
    ]);
    expect(actionsOf(message)).toEqual([
      "customer_confirm",
      "customer_decline",
      "customer_link",
      "nudge",
      "note",
      "cancel",
    ]);
  });

  test("the root of a request that was rejected: by whom and why, and no button at all", async () => {
    const message = await root(db, rejected, "chat.update");
    expect(actionsOf(message)).toEqual([]);
    expect(message.blocks.slice(2)).toEqual([
      section(":x: *Commercial review*: rejected by Cora"),
      section(":heavy_minus_sign: *Technical review*: not decided"),
      {
        type: "context",
        elements: [
          {
            type: "mrkdwn",
            text: "Cora rejected the request in the commercial review. <!date^1767351600^{date_short_pretty} {time}|2026-01-02 11:00 UTC>",
          },
        ],
      },
      section(">Too &lt;large&gt; &amp; too soon.\n>Ask again in *May*."),
    ]);
  });

  test("the buttons are those of the open reviews", async () => {
    const decided = { by: "cora", at: 1_767_351_600, endorsed_by: null, auto: false, asked: [] };
    const byRule = { by: null, at: null, auto: true, asked: [] };
    const states: [Story, string[]][] = [
      [{ ...submitted, commercial: decided }, ["tech_approve", "tech_reject", "nudge", "note", "cancel"]],
      [{ ...submitted, technical: byRule }, ["commercial_approve", "commercial_reject", "nudge", "note", "cancel"]],
      [{ ...confirmationRequired, state: "PROVISIONING" }, ["note", "cancel"]],
      ...["COMPLETED", "CANCELLED", "EXPIRED", "FAILED", "REJECTED"].map((state): [Story, string[]] => [
        { ...confirmationRequired, state },
        [],
      ]),
    ];
    for (const [story, actions] of states) expect(actionsOf(await root(db, story))).toEqual(actions);
  });

  test("a reply says what happened, quotes the reason, and mentions the people whose turn it is", async () => {
    const reply = await render<Message>(db, "render_slack_reply", rejected);
    expect(reply).toEqual({
      method: "chat.postMessage",
      channel: "C0CAPACITY",
      text: "CR-2026-000042: Cora rejected the request in the commercial review.",
      blocks: [
        section("Cora rejected the request in the commercial review. <@U0RITA>"),
        section(">Too &lt;large&gt; &amp; too soon.\n>Ask again in *May*."),
      ],
      metadata: {
        event_type: "capacity_request",
        event_payload: { cr_id: "CR-2026-000042", instruction_id: "CR-2026-000042#2", effect: "slack:reply" },
      },
    });
    const asked = await render<Message>(db, "render_slack_reply", confirmationRequired);
    expect(asked.blocks).toEqual([
      section("Tess approved the technical review. The customer has until 2026-01-10 10:00 UTC to confirm. <@U0CORA>"),
    ]);
  });

  test("every event has its sentence", async () => {
    const sentences: [Partial<Story>, string][] = [
      [
        { event: "COMMERCIAL_APPROVED", actor: "cora" },
        "Cora approved the commercial review. The technical review is still open.",
      ],
      [
        { event: "COMMERCIAL_APPROVED", actor: "cora", counts: false },
        "Cora endorsed the request; the approval of a higher authority is needed.",
      ],
      [
        { event: "TECH_REVIEW_APPROVED", actor_type: "system", actor: "policy:small" },
        "The technical review was approved by a rule. The commercial review is still open.",
      ],
      [{ event: "TECH_REVIEW_REJECTED", actor: "tess" }, "Tess rejected the request in the technical review."],
      [{ event: "CUSTOMER_CONFIRMED", actor_type: "customer" }, "The customer confirmed. Provisioning begins."],
      [
        { event: "CUSTOMER_CONFIRMED", actor: "cora", on_behalf: "customer" },
        "Cora recorded that the customer confirmed. Provisioning begins.",
      ],
      [
        { event: "CUSTOMER_CONFIRMED", actor_type: "system" },
        "The customer's payment confirmed the request. Provisioning begins.",
      ],
      [{ event: "CUSTOMER_DECLINED", actor_type: "customer" }, "The customer declined."],
      [
        { event: "CUSTOMER_DECLINED", actor: "cora", on_behalf: "customer" },
        "Cora recorded that the customer declined.",
      ],
      [
        { event: "CUSTOMER_CONFIRMATION_TIMEOUT", actor_type: "cron" },
        "The customer did not answer in time: the request has expired.",
      ],
      [{ event: "PROVISIONING_COMPLETE", actor_type: "system" }, "Provisioning is complete."],
      [{ event: "PROVISIONING_FAILED", actor_type: "system" }, "Provisioning failed."],
      [{ event: "CANCEL_APPROVED", actor: "gone" }, "gone cancelled the request."],
    ];
    for (const [change, sentence] of sentences) {
      const story = JSON.stringify({ ...submitted, ...change });
      expect(await oneOf(db.superuser.pool, "select capacity.story_sentence($1) as sentence", [story])).toEqual({
        sentence,
      });
    }
  });

  test("Linear gets an issue under an id that was made for it, a comment, and updates of its state", async () => {
    const description = [
      "- **State:** under review",
      "- **Asked for:** 4 × 32XL in us-east-1",
      "- **Requester:** Rita",
      "- **Needed by:** 2026-02-01",
      "- **For:** 30 days",
      "- **Estimated cost:** USD 12,500.00 a month",
      "- **Commercial review:** not approved",
      "- **Technical review:** not approved",
    ].join("\n");
    expect(await render(db, "render_linear_issue", submitted)).toEqual({
      operation: "issueCreate",
      team_id: "team-1",
      state_kind: "started",
      input: {
        id: "0f4b2f3e-9d3c-4f5a-8f2b-1c2d3e4f5a6b",
        teamId: "team-1",
        title: "CR-2026-000042: 4 × 32XL in us-east-1",
        description,
      },
    });
    expect(await render(db, "render_linear_comment", rejected)).toEqual({
      operation: "commentCreate",
      input: {
        id: "0f4b2f3e-9d3c-4f5a-8f2b-1c2d3e4f5a6b",
        body: "Cora rejected the request in the commercial review.\n\n> Too \\<large\\> & too soon.\n> Ask again in \\*May\\*.",
      },
    });
    expect(await render(db, "render_linear_state", { ...rejected, linear_state: "state-9" })).toEqual({
      operation: "issueUpdate",
      team_id: "team-1",
      state_kind: "canceled",
      input: { stateId: "state-9", description: description.replace("under review", "rejected") },
    });
  });

  test("the customer is asked by mail, with a placeholder for the link and without the link", async () => {
    const mail = await tell<Mail>(db, "offer", "email", {
      ...confirmationRequired,
      customer: "Initech & <Sons>",
    });
    expect(mail).toEqual({
      to: "buyer@initech.example",
      subject: "Please confirm: 4 × 32XL in us-east-1 (CR-2026-000042)",
      text: `Hello Initech & <Sons>,

The capacity that was asked for on your behalf is approved:

Request: CR-2026-000042
Capacity: 4 × 32XL in us-east-1
Needed by: 2026-02-01
For: 30 days
Estimated cost: USD 12,500.00 a month

Please confirm or decline by 2026-01-10 10:00 UTC. Without an answer the offer ends then.

Confirm or decline: {{confirmation_link}}

The link is for you alone and works once. Opening it decides nothing.

Acme
`,
      html: expect.any(String),
      confirmation_token_id: "b3f1c2d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d",
      confirmation_base_url: "https://capacity.acme.example",
    });
    // Without the template's styles, which are the same for all mails.
    expect(mail.html.replaceAll(/ (?:style|class)="[^"]*"/g, "")).toContain(
      "<p>Hello Initech &amp; &lt;Sons&gt;,</p><p>The capacity that was asked for on your behalf is approved:</p>" +
        "<p>Request: CR-2026-000042<br>Capacity: 4 × 32XL in us-east-1<br>Needed by: 2026-02-01<br>For: 30 days" +
        "<br>Estimated cost: USD 12,500.00 a month</p>" +
        "<p>Please confirm or decline by 2026-01-10 10:00 UTC. Without an answer the offer ends then.</p>" +
        '<p><a href="{{confirmation_link}}">Confirm or decline</a></p>' +
        "<p>The link is for you alone and works once. Opening it decides nothing.</p></main><div><p>Acme</p></div>",
    );
    const warning = await tell<Mail>(db, "warning", "email", confirmationRequired);
    expect(warning.subject).toBe("Reminder: please answer: 4 × 32XL in us-east-1 (CR-2026-000042)");
  });

  test("a price is shown on every surface, instead of the estimate, and the customer is asked to pay it", async () => {
    const offer = { words: "USD 1,200.00", interval: "month" };
    const monthly = { ...confirmationRequired, offer };
    const once = { ...confirmationRequired, offer: { ...offer, interval: null } };
    const mail = await tell<Mail>(db, "offer", "email", monthly);
    expect(mail.subject).toBe("Please review and pay: 4 × 32XL in us-east-1 (CR-2026-000042)");
    expect(mail.text).toContain("For: 30 days\nPrice: USD 1,200.00 a month\n");
    expect(mail.text).toContain("You pay USD 1,200.00 a month. Please pay or decline by 2026-01-10 10:00 UTC.");
    expect(mail.html).toMatch(/<a class="button" href="\{\{confirmation_link\}\}"[^>]*>Review and pay<\/a>/);
    expect((await tell<Mail>(db, "offer", "email", once)).text).toContain("You pay USD 1,200.00 once.");
    const failed = { ...monthly, state: "FAILED", state_before: "PROVISIONING", event: "PROVISIONING_FAILED" };
    expect((await tell<Mail>(db, "failed", "email", failed)).text).toContain("What you paid goes back to you.");
    const declined = { ...monthly, state: "CANCELLED", state_before: "CUSTOMER_CONFIRMATION_REQUIRED" };
    expect((await tell<Mail>(db, "cancelled", "email", declined)).text).not.toContain("goes back");

    const message = await root(db, monthly);
    expect(complaintsAbout(message)).toEqual([]);
    expect(message.blocks[1]).toMatchObject({
      fields: [
        field("State", "waiting for the customer"),
        ...facts.slice(0, 4),
        field("Price", "USD 1,200.00 a month"),
      ],
    });
    expect(actionsOf(message)).toEqual(["customer_decline", "customer_link", "nudge", "note", "cancel"]);
    expect((await render<Message>(db, "render_slack_reply", once)).text).toBe(
      "CR-2026-000042: Tess approved the technical review. The customer has until 2026-01-10 10:00 UTC to pay USD 1,200.00 once.",
    );
    const issue = await render<{ input: { description: string } }>(db, "render_linear_issue", monthly);
    expect(issue.input.description).toContain("- **Price:** USD 1,200.00 a month");
    for (const said of [mail, message, issue]) expect(JSON.stringify(said)).not.toContain("Estimated cost");
  });

  test("the customer is told how it ended, and never why", async () => {
    const story = { ...confirmationRequired, state: "CANCELLED", event: "CANCEL_APPROVED", reason: "They are broke." };
    const mail = await tell<Mail>(db, "cancelled", "email", story);
    expect(mail.subject).toBe("4 × 32XL in us-east-1: cancelled (CR-2026-000042)");
    expect(mail.text).toContain("The request was cancelled. The link that you were sent no longer works.");
    expect(JSON.stringify(mail)).not.toContain("broke");
    expect(Object.keys(mail).toSorted()).toEqual(["html", "subject", "text", "to"]);
  });

  test("machines get a whole CloudEvents envelope without personal data", async () => {
    const event = await render<Json>(db, "render_event", { ...rejected, deadline: 1_768_039_200 });
    expect(event).toEqual({
      specversion: "1.0",
      id: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
      source: "/headroom/acme",
      type: "capacity.request.commercial_rejected",
      subject: "CR-2026-000042",
      time: "2026-01-02T11:00:00.000000Z",
      datacontenttype: "application/json",
      data: {
        request_id: "CR-2026-000042",
        workspace_id: "acme",
        version: 2,
        event_type: "COMMERCIAL_REJECTED",
        state_before: "UNDER_REVIEW",
        state_after: "REJECTED",
        actor_type: "user",
        requested_size: "32XL",
        quantity: 4,
        region: "us-east-1",
        needed_by_date: "2026-02-01",
        expected_duration_days: 30,
        estimated_monthly_cost_usd: 12_500,
        offer: null,
        next_deadline_at: "2026-01-10T10:00:00.000000Z",
        replaces_request_id: null,
      },
    });
    expect(contentTypeOf(event)).toBe("application/cloudevents+json");
    expect(isObject(event) && validateEnvelope(event)).toEqual({ ok: true });
  });

  test("a reminder names fifty reviews, which is its maximum, and counts the others", async () => {
    const items = Array.from({ length: 50 }, (_, index) => ({
      id: `CR-2026-${String(index).padStart(6, "0")}`,
      what: "4 × 32XL in us-east-1",
      step: "technical",
      since: 1_767_348_000,
    }));
    const story = { id: "CR-2026-000000", instruction: "CR-2026-000000!7", slack: "U0TESS", items, others: 25 };
    const message = await tell<Message>(db, "digest", "slack", story, "U0TESS");
    expect(complaintsAbout(message)).toEqual([]);
    const lines = message.blocks
      .flatMap(({ text }) => text?.text.split("\n") ?? [])
      .filter((line) => line.startsWith("• "));
    expect(lines[0]).toBe("• CR-2026-000000: 4 × 32XL in us-east-1, technical review, open since 2026-01-02 10:00 UTC");
    expect([lines.length, lines.at(-1)]).toEqual([51, "• and 25 more"]);
  });

  test("session settings change no message", async () => {
    const client = await db.superuser.connect();
    const all = async (): Promise<unknown> =>
      oneOf(
        client,
        `select capacity.render_slack_root($1, 'chat.update') as root, capacity.render_event($1) as event,
                capacity.preview_tell($1, 'offer', 'email') as mail, capacity.linear_description($1) as linear`,
        [JSON.stringify(confirmationRequired)],
      );
    const before = await all();
    await client.query(
      "set timezone = 'Pacific/Chatham'; set datestyle = 'German, DMY'; set extra_float_digits = 0; set intervalstyle = 'iso_8601'",
    );
    expect(await all()).toEqual(before);
  });
});
