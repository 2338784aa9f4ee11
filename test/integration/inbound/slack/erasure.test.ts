/**
 * Erasing the customer of a request that was handled in Slack: what was typed, filled in and said to one person goes with the rest, and no
 * digest of it stays. What came in stays recorded, and is recognised when it comes again.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Erasing } from "../../capacity/erase/erasing.ts";
import { digestsOf, tracesOf } from "../../capacity/traces.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import type { Stream } from "../../outbox/harness.ts";
import { clickBody, commandBody, sign, startSlack, submissionBody, typed, type View } from "./slack.ts";

const words = ["initech", "rubicon"];
const terms = "32XL us-east-1 for Initech Ltd owner @cora group infra";

describe.each(POSTGRES_VERSIONS)("erasing Slack data on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;
  const { db, superuser } = workflow;
  const erasing = new Erasing(workflow);
  let interactions: Stream = { id: 0, name: "interactions" };

  beforeAll(async () => {
    await erasing.start();
    interactions = await oneOf<Stream>(
      superuser,
      "select stream_id as id, name from outbox.streams where name = 'interactions'",
    );
  });

  const lastRequest = async (): Promise<string> => (await slack.deliveries()).at(-1)!.request_id!;

  async function opened(): Promise<View> {
    const { payload } = await oneOf<{ payload: { view: View } }>(
      superuser,
      "select payload from outbox.payloads where idempotency_key = 'view' order by outbox_id desc limit 1",
    );
    return payload.view;
  }

  /** A request made by a form that a command had filled in. Also returns the bodies that came in. */
  async function byForm(): Promise<{ id: string; bodies: string[] }> {
    const command = commandBody(terms);
    await slack.send(sign(command));
    const view = await opened();
    expect(JSON.stringify(view)).toContain("Initech Ltd");
    const entered = {
      size: typed("32XL"),
      quantity: { type: "number_input", value: "1" },
      region: typed("us-east-1"),
      customer: typed("Initech Ltd"),
      owner: { type: "users_select", selected_user: "U0CORA" },
      group: { type: "static_select", selected_option: { value: "infra" } },
    };
    const metadata = JSON.parse(view.private_metadata) as object;
    const submission = submissionBody(view.callback_id, entered, metadata, "U0RITA");
    expect(await slack.send(sign(submission))).toEqual({ response_action: "clear" });
    return { id: await lastRequest(), bodies: [command, submission] };
  }

  /** Rejects it with a reason, so that the next person to click is told the reason. */
  async function rejectAndClick(id: string): Promise<string[]> {
    const reason = submissionBody(
      "capacity_reason",
      { reason: typed("Initech crossed the rubicon") },
      { request: id, action: "commercial_reject" },
      "U0CORA",
    );
    expect(await slack.send(sign(reason))).toEqual({ response_action: "clear" });
    const click = clickBody("tech_approve", id, "U0TESS");
    await slack.send(sign(click));
    return [reason, click];
  }

  test("no table keeps the name, the reason, or a digest of what was sent; what came in is still recognised", async () => {
    const typedBody = commandBody(`create ${terms}`);
    const signed = sign(typedBody);
    await slack.send(signed);
    const typedId = await lastRequest();
    const { id, bodies } = await byForm();
    bodies.push(typedBody, ...(await rejectAndClick(id)));
    await slack.command(`create 32XL us-east-1 owner Rubicon group infra replaces ${id}`);
    const before = await slack.deliveries();
    // Each is known to be about its request, including the one that opened the form and those that were refused.
    expect(before.map((delivery) => delivery.request_id)).toEqual([typedId, id, id, id, id, id]);
    expect(before.at(-1)).toMatchObject({ outcome: "refused", refusal: expect.stringContaining("Rubicon") });
    await erasing.deliver();
    expect(await tracesOf(db, words)).toEqual(
      expect.arrayContaining(["capacity.free_texts", "capacity.personal_data", "inbound.receipts", "outbox.payloads"]),
    );
    const guesses = digestsOf([...bodies, ...bodies.map((body) => `v0:${body}`), terms, "Initech crossed the rubicon"]);

    expect(await erasing.erase(id)).toMatchObject({ state: "done" });
    expect(await erasing.erase(typedId)).toMatchObject({ state: "done" });
    expect(await tracesOf(db, words)).toEqual([]);
    expect(await tracesOf(db, guesses)).toEqual([]);
    expect(
      await rowsOf(
        superuser,
        "select from outbox.dedupe d join outbox.streams s using (stream_id) where s.name = 'interactions' and d.salt is not null",
      ),
    ).toEqual([]);
    expect((await slack.deliveries()).map(({ refusal: _refusal, ...kept }) => kept)).toEqual(
      before.map(({ refusal: _refusal, ...kept }) => kept),
    );
    expect((await slack.send(signed)).text).toContain(typedId);
    await erasing.expectVerified(id);
  });

  test("a note that is being sent is left to arrive, and the sweep erases it then", async () => {
    const { id } = await byForm();
    await rejectAndClick(id);
    await erasing.deliver();
    const inFlight = await erasing.engine.claim(interactions);
    expect(inFlight.length).toBeGreaterThan(0);
    expect(await erasing.erase(id)).toMatchObject({ state: "waiting", messages: { waiting: inFlight.length } });
    expect(await tracesOf(db, words)).toEqual(["outbox.payloads"]);
    await erasing.engine.deliver(interactions, inFlight);
    expect(await runTimers(db.as("headroom_executor").pool)).toMatchObject({ erased: 1, failed: [] });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("a waiting note is removed immediately, even one that would be posted in a person's conversation with the app", async () => {
    const { id } = await byForm();
    await rejectAndClick(id);
    await erasing.deliver();
    // Too late to be answered in the form, and without a channel: sent directly.
    await slack.submit(
      "capacity_reason",
      { reason: typed("Rubicon") },
      { request: id, action: "tech_reject" },
      "U0TESS",
      3,
    );
    const direct = `select m.payload ->> 'method' as method from outbox.payloads m join outbox.pending_unordered u using (outbox_id)
                     where m.payload ->> 'method' = 'chat.postMessage'`;
    expect(await rowsOf(superuser, direct)).toEqual([{ method: "chat.postMessage" }]);
    expect(await erasing.erase(id)).toMatchObject({ state: "done", messages: { waiting: 0 } });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("a form belongs to a request only if the same person opened and sent it", async () => {
    await slack.command(terms, "U0ROB");
    const view = await opened();
    const entered = { size: typed("32XL"), quantity: typed("1"), region: typed("us-east-1") };
    await slack.submit(
      view.callback_id,
      {
        ...entered,
        owner: { type: "users_select", selected_user: "U0CORA" },
        group: { type: "static_select", selected_option: { value: "infra" } },
      },
      JSON.parse(view.private_metadata) as object,
      "U0RITA",
    );
    const [opener, submission] = (await slack.deliveries()).slice(-2);
    expect(submission?.outcome).toBe("done");
    expect(opener?.request_id).toBeNull();
  });
});
