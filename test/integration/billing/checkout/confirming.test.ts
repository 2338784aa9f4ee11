/** Where there is a price, paying is the confirmation: who is told so, by which entrance, and what everybody may still do. */
import { createHmac } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { anonymous, memberSession, overHttp } from "../../capacity/gateway.ts";
import { buttonsOf } from "../../capacity/story/block-kit.ts";
import { codeOf, oneOf, refusalOf, rowsOf } from "../../capacity/harness.ts";
import { channel, startSlack } from "../../inbound/slack/slack.ts";
import { noPrices, putPrice } from "../pricing.ts";

const linkSecret = "a secret for links, of 32 bytes or more";

/** How each entrance answers a confirmation: of an offer with a price and of one without, in time and late. */
const table: readonly (readonly [actor: string, priced: string, free: string, pricedLate: string, freeLate: string])[] =
  [
    ["customer:customer", "payment_due", "yes", "deadline_passed", "deadline_passed"],
    ["user:cora", "payment_due", "yes", "deadline_passed", "deadline_passed"],
    ["user:rita", "not_allowed", "not_allowed", "deadline_passed", "deadline_passed"],
    ["user:tess", "not_allowed", "not_allowed", "deadline_passed", "deadline_passed"],
    ["user:ada", "not_allowed", "not_allowed", "deadline_passed", "deadline_passed"],
    ["system:payment:1", "yes", "yes", "yes", "yes"],
    ["cron:timer", "not_allowed", "not_allowed", "deadline_passed", "deadline_passed"],
  ];

describe.each(POSTGRES_VERSIONS)("confirming an offer with a price on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;
  const { db } = workflow;

  beforeAll(async () => {
    const control = await db.as("headroom_control").connect();
    await control.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', $1)", [linkSecret]);
    await control.end();
  });
  beforeEach(async () => {
    await noPrices(workflow);
    await putPrice(workflow, { size: "16XL" });
    await slack.takeInteractions();
  });

  const offered = (size = "16XL"): Promise<string> =>
    workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { size, channel });

  async function tokenOf(id: string): Promise<string> {
    const found = await oneOf<{ id: string }>(
      workflow.superuser,
      "select id from capacity.confirmation_tokens where request_id = $1",
      [id],
    );
    const bytes = Buffer.from(found.id.replaceAll("-", ""), "hex");
    return Buffer.concat([bytes, createHmac("sha256", linkSecret).update(bytes).digest()]).toString("base64url");
  }

  const decide = (token: string, decision: string) =>
    overHttp(db, anonymous, (client) =>
      oneOf<{ story: Record<string, unknown> }>(client, "select public.decide_by_token($1, $2) as story", [
        token,
        decision,
      ]),
    );

  test.each(table)(
    "a confirmation by %s is answered as in the table, with and without a price, in time and late",
    async (...row) => {
      const [actor, ...expected] = row;
      const [type, ...name] = actor.split(":");
      const verdict = async (id: string): Promise<string> => {
        const { answer } = await oneOf<{ answer: string }>(
          workflow.superuser,
          `select case when a.allowed then 'yes' else a.code end as answer
           from capacity.requests r,
                capacity.authorize(row($2, $3, 'test')::capacity.actor, directory.standing_of(r.workspace_id, $3), r,
                                   'CUSTOMER_CONFIRMED', clock_timestamp()) a where r.id = $1`,
          [id, type, name.join(":")],
        );
        return answer;
      };
      const answers: string[] = [];
      const [priced, free] = [await offered(), await offered("32XL")];
      answers.push(await verdict(priced), await verdict(free));
      await workflow.passDeadline(priced);
      await workflow.passDeadline(free);
      answers.push(await verdict(priced), await verdict(free));
      expect(answers).toEqual(expected);
    },
  );

  test("the customer's link says that paying is the confirmation, changes nothing, and still declines", async () => {
    const id = await offered();
    const token = await tokenOf(id);
    const before = await workflow.size();
    const refusal = await refusalOf(decide(token, "confirm"));
    expect(refusal).toMatchObject({
      code: "PT409",
      detail: `payment_due: ${id}`,
      message: expect.stringMatching(/^Paying is the confirmation: follow the link/),
      hint: "Nothing was changed.",
    });
    expect(await workflow.size()).toEqual(before);
    expect((await decide(token, "decline")).story).toMatchObject({ status: "declined", decided_by: "customer" });
    expect((await workflow.row(id)).state).toBe("CANCELLED");
  });

  test("the link's page shows the price but not how it was made", async () => {
    const token = await tokenOf(await offered());
    const { story } = await overHttp(db, anonymous, (client) =>
      oneOf<{ story: { offer: object } }>(client, "select public.describe_confirmation($1) as story", [token]),
    );
    expect(story.offer).toEqual({
      kind: "recurring",
      currency: "USD",
      unit_amount: 30_000,
      quantity: 4,
      amount: 120_000,
      interval: "month",
      duration_days: 30,
      words: "USD 1,200.00",
    });
  });

  test("a payment confirms, names itself in the log and is posted in every thread; a later visitor finds it confirmed", async () => {
    const id = await offered();
    const token = await tokenOf(id);
    await workflow.apply(id, "CUSTOMER_CONFIRMED", "system:payment:1", { payload: { payment_id: "p-1" } });
    expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
    expect((await workflow.events(id)).at(-1)).toMatchObject({ actor_type: "system", payload: { payment_id: "p-1" } });
    const { said } = await oneOf<{ said: string }>(
      workflow.superuser,
      "select capacity.story_sentence(capacity.story_now($1)) as said",
      [id],
    );
    expect(said).toBe("The customer paid USD 1,200.00. Provisioning begins.");
    expect((await decide(token, "confirm")).story).toMatchObject({
      status: "confirmed",
      decided_by: "customer",
      repeated: true,
    });
    await workflow.expectWhole([id]);
  });

  test("a payment that was pending at the deadline still confirms", async () => {
    const id = await offered();
    await workflow.passDeadline(id);
    await workflow.apply(id, "CUSTOMER_CONFIRMED", "system:payment:1", { payload: { payment_id: "p-1" } });
    expect(await workflow.row(id)).toMatchObject({ state: "PROVISIONING" });
  });

  test("Slack shows the price, has no confirm button, and refuses an old button and the command with an explanation", async () => {
    const id = await offered();
    const shown = await slack.command(`show ${id}`, "U0CORA");
    expect(JSON.stringify(shown.blocks)).toContain("*Price*\\nUSD 1,200.00 a month");
    expect(JSON.stringify(shown.blocks)).not.toContain("Estimated cost");
    expect(buttonsOf({ blocks: shown.blocks ?? [] }).map((button) => button.action_id)).toEqual([
      "customer_decline",
      "customer_link",
      "nudge",
      "note",
      "cancel",
    ]);
    const said = "Paying is the confirmation: only the customer can give it, by the link in their mail";
    expect(await slack.click("customer_confirm", id, "U0CORA")).toEqual({});
    expect(JSON.stringify(await slack.takeInteractions())).toContain(said);
    expect((await slack.command(`confirm ${id}`, "U0CORA")).text).toContain(said);
    expect((await workflow.row(id)).state).toBe("CUSTOMER_CONFIRMATION_REQUIRED");
    expect((await slack.command(`decline ${id} too much`, "U0CORA")).text).toContain("declined");
    expect((await workflow.row(id)).state).toBe("CANCELLED");
  });

  test("the API refuses a member's confirmation, and a payment that a member claims", async () => {
    const id = await offered();
    const by = (payload: object) =>
      overHttp(db, memberSession("cora"), (client) =>
        rowsOf(client, "select public.decide_capacity_request($1, 'CUSTOMER_CONFIRMED', null, $2)", [
          id,
          JSON.stringify(payload),
        ]),
      );
    expect(await codeOf(by({}))).toBe("payment_due");
    expect(await codeOf(by({ payment_id: "p-1" }))).toBe("payment_due");
    const free = await offered("32XL");
    const claimed = overHttp(db, memberSession("cora"), (client) =>
      rowsOf(client, `select public.decide_capacity_request($1, 'CUSTOMER_CONFIRMED', null, '{"payment_id": "p-1"}')`, [
        free,
      ]),
    );
    expect(await codeOf(claimed)).toBe("invalid_payload");
  });
});
