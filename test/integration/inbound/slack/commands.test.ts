/**
 * The slash command in all its forms, as people type it.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { channel, commandBody, sign, startSlack, typed } from "./slack.ts";

const idIn = (text: string | undefined): string => /CR-\d{4}-\d{6,}/.exec(text ?? "")?.[0] ?? "none";

describe.each(POSTGRES_VERSIONS)("the slash command on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;

  beforeEach(() => slack.takeInteractions());

  test("create submits a request with all that the line says, as the member who typed it", async () => {
    const answer = await slack.command(
      "create 32XL x4 us-east-1 for Acme Corp by 2027-12-01 days 30 cost 12,000.50 owner <@U0CORA|cora> group infra email ann@acme.example",
    );
    expect(answer).toMatchObject({ response_type: "ephemeral" });
    expect(answer.text).toContain("<@U0CORA>");
    const id = idIn(answer.text);
    const { version: seen, ...row } = await workflow.row(id);
    expect(seen).toBe(1);
    expect(row).toMatchObject({
      state: "UNDER_REVIEW",
      requester_user_id: "rita",
      commercial_owner_user_id: "cora",
      infra_owner_group: "infra",
      requested_size: "32XL",
      quantity: 4,
      region: "us-east-1",
      needed_by_date: "2027-12-01",
      expected_duration_days: 30,
      estimated_monthly_cost_usd: "12000.50",
      customer_ref: { name: "Acme Corp", email: "ann@acme.example" },
      slack_channel_id: channel,
    });
    expect(await workflow.events(id)).toMatchObject([
      { event_type: "REQUEST_SUBMITTED", actor_id: "rita", via: "slack" },
    ]);
    expect((await slack.deliveries()).at(-1)).toMatchObject({ outcome: "done", member_id: "rita", request_id: id });
  });

  test.each([
    ["create us-east-1 4x 32XL owner cora group infra", { requested_size: "32XL", quantity: 4, region: "us-east-1" }],
    ["CREATE 8xl ×2 eu-west-1 owner=@cora group=infra", { requested_size: "8xl", quantity: 2, region: "eu-west-1" }],
    [
      "create size=2XL region=local quantity=3 owner cora group infra",
      { requested_size: "2XL", quantity: 3, region: "local" },
    ],
    ["create 2XL us-east-1 $9k/month for 14 days owner cora group infra", { expected_duration_days: 14 }],
    ["create 2XL us-east-1 for “Days by Night” owner cora group infra", { customer_ref: { name: "Days by Night" } }],
    [
      "create 2XL us-east-1 for Smith + Söhne = 🚀 owner cora group infra",
      { customer_ref: { name: "Smith + Söhne = 🚀" } },
    ],
    ["create 2XL us-east-1 for by group infra owner cora", { customer_ref: { name: "by" } }],
    [
      "create 2XL us-east-1 for Acme owner cora group infra because “demand”\n  grows for 30 days by x4",
      { quantity: 1, expected_duration_days: null, justification: "“demand”\n  grows for 30 days by x4" },
    ],
    [
      'create 2XL us-east-1 for "Because Corp" owner cora group infra justification="more load"',
      { customer_ref: { name: "Because Corp" }, justification: "more load" },
    ],
  ])("reads %j", async (line, terms) => {
    expect(await workflow.row(idIn((await slack.command(line)).text))).toMatchObject(terms);
  });

  test.each([
    ["create x4 us-east-1", "a size and a region"],
    ["create 32XL us-east-1 by tomorrow owner cora group infra", "by 2026-12-01"],
    ["create 32XL us-east-1 by 2026-02-30 owner cora group infra", "by 2026-12-01"],
    ["create 32XL us-east-1 by 2020-01-01 owner cora group infra", "not in the past"],
    ["create 32XL xx9 us-east-1 owner cora group infra", "“xx9”"],
    ["create 32XL x99999 us-east-1 owner cora group infra", "quantity"],
    ["create 32XL us-east-1 cost plenty owner cora group infra", "cost 12000"],
    ["create 32XL us-east-1 owner nobody group infra", "commercial owner"],
    ["create 32XL us-east-1 owner cora group nowhere", "infra group"],
    ["create 32XL us-east-1", "commercial approval"],
    [`create 32XL us-east-1 owner cora group infra because ${"x".repeat(2001)}`, "justification"],
    ["create 32XL us-east-1 email nonsense owner cora group infra", "“nonsense”: That is not an e-mail address."],
    ["create 32XL us-east-1 email ve\u200Bra@a.example owner cora group infra", "ASCII letters: it has others"],
  ])("%j is answered with what is wrong, and nothing is submitted", async (line, said) => {
    const before = await workflow.size();
    const answer = await slack.command(line);
    expect(answer.response_type).toBe("ephemeral");
    expect(answer.text).toContain(said);
    expect(await workflow.size()).toEqual(before);
  });

  test("without text it opens the form, within the life of the trigger, and says so", async () => {
    const body = commandBody("");
    const answer = await slack.send(sign(body));
    expect(answer.text).toContain("Opening the form");
    const [opened, ...others] = await slack.takeInteractions();
    expect(others).toEqual([]);
    expect(opened).toMatchObject({ method: "views.open", trigger_id: new URLSearchParams(body).get("trigger_id") });
    expect(opened?.expires_in).toBeCloseTo(3, 1);
    expect(opened?.view?.callback_id).toBe("capacity_intake");
    expect(JSON.parse(opened?.view?.private_metadata ?? "")).toEqual({
      channel,
      opened_by: expect.stringMatching(/^command:[0-9a-f]{64}$/),
    });
  });

  test.each([
    "32XL x4 us-east-1 for Acme by 2027-12-01 owner cora group infra because we grow",
    "new 32XL x4 us-east-1 for Acme by 2027-12-01 owner cora group infra BECAUSE we grow",
  ])("%j fills the form in", async (text) => {
    await slack.command(text);
    const [opened] = await slack.takeInteractions();
    const elements = Object.fromEntries((opened?.view?.blocks ?? []).map((block) => [block.block_id, block.element]));
    expect(elements).toMatchObject({
      size: { initial_value: "32XL" },
      quantity: { initial_value: "4" },
      region: { initial_value: "us-east-1" },
      customer: { initial_value: "Acme" },
      needed_by: { initial_date: "2027-12-01" },
      justification: { initial_value: "we grow", multiline: true, max_length: 2000 },
      owner: { initial_user: "U0CORA" },
      group: { initial_option: { value: "infra" } },
    });
  });

  test("list shows what waits for a person and what they requested, and nobody else's", async () => {
    const mine = await workflow.createIn("UNDER_REVIEW", { requester: "dora" });
    const done = await workflow.createIn("UNDER_REVIEW", { requester: "dora" });
    await workflow.apply(done, "CANCEL_APPROVED", "dora");
    const toDora = (await slack.command("list", "U0DORA")).text;
    expect(toDora).toContain("Your open requests");
    expect(toDora).toContain(mine);
    expect(toDora).not.toContain(done);
    expect((await slack.command("list", "U0VERA")).text).toContain("Nothing waits for you");
    const toCarl = await workflow.createIn("UNDER_REVIEW", { owner: "carl" });
    const listed = (await slack.command("list", "U0CARL")).text ?? "";
    expect(listed).toContain("Waiting for your decision");
    expect(listed).toContain(toCarl);
    expect(listed).not.toContain(mine);
  });

  test("show answers with the request and working buttons, to people who may read it", async () => {
    const id = await workflow.createIn("UNDER_REVIEW");
    const answer = await slack.command(`show ${id.toLowerCase()}`, "U0CORA");
    expect(answer.text).toContain(id);
    expect(JSON.stringify(answer.blocks)).toContain("commercial_approve");
    expect(await slack.command(id, "U0CORA")).toEqual(answer);
    const stranger = await slack.command(`show ${id}`, "U0CARL");
    expect(stranger.text).toContain("There is no such request");
    expect((await slack.command("show CR-2026-999999", "U0CORA")).text).toContain("There is no such request");
  });

  test.each([
    ["cancel", "U0RITA", "CANCELLED"],
    ["reject", "U0TIM", "REJECTED"],
    ["reject", "U0CORA", "REJECTED"],
  ])("%s by %s without a reason opens the form that asks for it", async (verb, user, state) => {
    const id = await workflow.createIn("UNDER_REVIEW");
    const answer = await slack.command(`${verb} ${id}`, user);
    expect(answer.text).toContain("Opening a form that asks why.");
    expect(answer.text).toContain(`/capacity ${verb} ${id}`);
    const [opened, ...others] = await slack.takeInteractions();
    expect(others).toEqual([]);
    expect(opened?.view?.callback_id).toBe("capacity_reason");
    expect((await workflow.row(id)).version).toBe(1);
    const metadata = JSON.parse(opened?.view?.private_metadata ?? "") as object;
    const sent = await slack.submit("capacity_reason", { reason: typed("No room") }, metadata, user);
    expect(sent).toEqual({ response_action: "clear" });
    expect((await workflow.row(id)).state).toBe(state);
  });

  test("cancel needs a reason and a person who may", async () => {
    const id = await workflow.createIn("UNDER_REVIEW");
    expect((await slack.command(`cancel ${id}`, "U0TESS")).text).toContain("Only the requester");
    expect(await slack.takeInteractions()).toEqual([]);
    expect((await slack.command(`cancel ${id} because I say so`, "U0TESS")).text).toContain("Only the requester");
    expect((await workflow.row(id)).state).toBe("UNDER_REVIEW");
    expect((await slack.command(`cancel ${id} not needed + any = more 🚀`)).text).toContain("Rita cancelled");
    expect(await workflow.row(id)).toMatchObject({
      state: "CANCELLED",
      cancellation_reason: "not needed + any = more 🚀",
    });
    expect((await slack.command(`cancel ${id} again`)).text).toMatch(/^You already cancelled CR-/);
  });

  test("approve and reject find the review that is meant", async () => {
    const id = await workflow.createIn("UNDER_REVIEW");
    expect((await slack.command(`approve ${id}`, "U0TESS")).text).toContain("approved the technical review");
    expect((await slack.command(`approve ${id}`, "U0CORA")).text).toContain("approved the commercial review");
    expect((await slack.command(`confirm ${id}`, "U0CORA")).text).toContain("recorded that the customer confirmed");
    expect((await workflow.row(id)).state).toBe("PROVISIONING");
    const other = await workflow.createIn("UNDER_REVIEW");
    expect((await slack.command(`reject ${other} technical no room`, "U0TIM")).text).toContain("rejected the request");
    expect((await workflow.row(other)).rejection_reason).toBe("no room");
    expect((await slack.command(`approve ${other}`, "U0CORA")).text).toContain("Tim rejected the request");
  });

  test.each(["help", "?", "HELP"])("%j shows the grammar", async (text) => {
    expect((await slack.command(text)).text).toMatch(/^\*What/);
  });

  test.each(["frobnicate", "cr", "approve", "show me the money please"])(
    "%j is not understood, and the answer says so",
    async (text) => {
      const answer = await slack.command(text);
      expect(answer.response_type).toBe("ephemeral");
      expect(answer.text).toMatch(/did not understand|Name the request|no such request/);
    },
  );

  test("the creator of a request that rules approve immediately is told its state at that point", async () => {
    await workflow.addPolicy({ id: "small", kind: "auto_approval", step: "technical" });
    const half = await slack.command("create 2XL us-east-1 for Acme owner cora group infra");
    expect(half.text).toMatch(/^\*CR-\S+\* is under review: 1 × 2XL in us-east-1\.$/m);
    expect(half.text).toMatch(/\*Commercial review\*: waiting for <@U0CORA>$/m);
    expect(half.text).toMatch(/:white_check_mark: \*Technical review\*: approved by a rule, /);
    await workflow.addPolicy({ id: "cheap", kind: "auto_approval", step: "commercial" });
    const whole = await slack.command("create 2XL us-east-1 for Acme owner cora group infra");
    expect(whole.text).toMatch(/:white_check_mark: \*Commercial review\*: approved by a rule, /);
    expect(whole.text).toContain(":warning:");
    expect(await workflow.row(idIn(whole.text))).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED", version: 3 });
    await rowsOf(workflow.superuser, "delete from capacity.policies");
  });

  test("what was typed is shown as text, not as markup", async () => {
    const answer = await slack.command("<!channel> & <https://evil.example|click>");
    expect(answer.text).toContain("&lt;!channel&gt;");
    expect(answer.text).not.toContain("<!channel>");
  });

  test("nothing that could be used again is kept of a delivery", async () => {
    const body = commandBody("create 32XL us-east-1 for Initrode owner cora group infra");
    await slack.send(sign(body));
    const kept = JSON.stringify((await slack.deliveries()).at(-1));
    for (const field of ["token", "trigger_id", "response_url"])
      expect(kept).not.toContain(new URLSearchParams(body).get(field));
    expect(kept).not.toContain("Initrode");
  });
});
