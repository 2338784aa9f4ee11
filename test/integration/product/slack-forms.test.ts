/**
 * Forms, notes and Linear's comments end to end: the sandbox's Slack and Linear, the real server, the real relay and rails.
 */
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { startProductStage } from "./harness.ts";

const { db, sandbox } = await startProductStage();
const channel = sandbox.sampleData.slackChannels[0]?.id ?? "";
const slackIdOf = (memberId: string): string =>
  sandbox.sampleData.people.find((person) => person.memberId === memberId)?.slackUserId ?? "";
const [riley, casey, ines] = ["riley", "casey", "ines"].map(slackIdOf) as [string, string, string];

/** Checks repeatedly until there is one, or for ten seconds. */
async function eventually<T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`There was never ${what}.`);
    await delay(20);
  }
}

const openView = (user: string, callback: string) =>
  eventually(
    () => sandbox.slack.openViews(user).find(({ view }) => view.callback_id === callback),
    `the form ${callback}`,
  );
const rootOf = (id: string, words: string) =>
  eventually(
    () =>
      sandbox.slack
        .messages(channel)
        .find(
          (message) =>
            message.threadTs === undefined && [id, words].every((word) => JSON.stringify(message).includes(word)),
        ),
    `a root of ${id} with ${words}`,
  );

async function newest(): Promise<string> {
  const { rows } = await db.superuser.pool.query<{ id: string }>(
    "select id from capacity.requests order by created_at desc limit 1",
  );
  return rows[0]?.id ?? "";
}

describe("through the sandbox", () => {
  test("a form makes a request; a click without the right is answered by a note; a form with a reason rejects it; Linear's comments come back", async () => {
    expect(await sandbox.slack.command({ user: riley, text: "32XL x2 us-east-1 for Acme Corp" })).toMatchObject({
      kind: "acknowledged",
    });
    const intake = await openView(riley, "capacity_intake");
    const filled = { quantity: "2", size: "32XL", region: "us-east-1", owner: casey, group: "infra" };
    const wrong = await sandbox.slack.submitView({
      user: riley,
      viewId: intake.id,
      values: { ...filled, region: "Über See" },
    });
    expect(wrong).toMatchObject({ kind: "errors", errors: { region: expect.stringContaining("us-east-1") } });
    expect(await sandbox.slack.submitView({ user: riley, viewId: intake.id, values: filled })).toEqual({
      kind: "closed",
    });
    const id = await newest();
    const { ts } = await rootOf(id, "tech_reject");

    expect(await sandbox.slack.click({ user: casey, channel, ts, actionId: "tech_approve" })).toMatchObject({
      kind: "acknowledged",
    });
    await eventually(
      () => sandbox.slack.ephemerals(casey).find(({ text }) => text.includes("infra group")),
      "the note",
    );

    const issue = await eventually(() => sandbox.linear.issues().find(({ title }) => title.includes(id)), "the issue");
    await eventually(async () => {
      const { rows } = await db.superuser.pool.query(
        "select from capacity.request_captures where request_id = $1 and name = 'linear_issue_id'",
        [id],
      );
      return rows[0];
    }, "the issue's id");
    expect(await sandbox.linear.comment({ person: "ines", issue: issue.id, body: "No room there." })).toMatchObject({
      kind: "answered",
      status: 200,
    });
    await eventually(
      () => sandbox.slack.thread(channel, ts).find((reply) => JSON.stringify(reply).includes("No room there.")),
      "the note in the thread",
    );

    await sandbox.slack.click({ user: ines, channel, ts, actionId: "tech_reject" });
    const reason = await openView(ines, "capacity_reason");
    expect(await sandbox.slack.submitView({ user: ines, viewId: reason.id, values: { reason: "No room" } })).toEqual({
      kind: "closed",
    });
    expect((await rootOf(id, "rejected")).ts).toBe(ts);
    const { rows } = await db.superuser.pool.query(
      "select event_type, actor_id, via from capacity.events where request_id = $1 order by seq",
      [id],
    );
    expect(rows).toEqual([
      { event_type: "REQUEST_SUBMITTED", actor_id: "riley", via: "slack" },
      { event_type: "TECH_REVIEW_REJECTED", actor_id: "ines", via: "slack" },
    ]);
    // Our own comments in Linear came back as deliveries, but not as notes.
    const notes = await db.superuser.pool.query(
      "select from capacity.notices where request_id = $1 and kind = 'note'",
      [id],
    );
    expect(notes.rows).toHaveLength(1);
  });
});
