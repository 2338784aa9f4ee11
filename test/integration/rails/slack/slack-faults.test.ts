import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRelay } from "../../../../src/outbox/index.ts";
import { createSlackInteractionRail, createSlackRail } from "../../../../src/rails/slack/rail.ts";
import type { SlackRail } from "../../../../src/rails/slack/rail.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import type { SlackMessage } from "../../../../src/sandbox/slack/state.ts";
import { until } from "../../outbox/relay/stage.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { startFaultStage } from "../fault-stage.ts";
import { slackChannel, slackToken } from "../provider-plans.ts";

const stage = await startFaultStage();
const { surfaces } = stage;
const rails: SlackRail[] = [];

function slackRails(timeoutMs: number): SlackRail[] {
  const settings = { token: slackToken, apiUrl: `${stage.sandbox().url}/slack/api/`, timeoutMs, visibleAfterMs: 0 };
  rails.push(createSlackRail(settings), createSlackInteractionRail(settings));
  return rails;
}

beforeEach(() => surfaces.settings({ slack_channel_id: slackChannel }));
afterEach(() => {
  for (const rail of rails.splice(0)) rail.close();
});

/** What the channel shows of a request: its root, and the replies in its thread. */
function storyOf(id: string): { roots: SlackMessage[]; replies: SlackMessage[]; instructions: string[] } {
  const ours = stage
    .sandbox()
    .slack.messages(slackChannel)
    .filter(({ metadata }) => metadata?.event_payload["cr_id"] === id);
  const replies = ours.filter(({ threadTs }) => threadTs !== undefined);
  return {
    roots: ours.filter(({ threadTs }) => threadTs === undefined),
    replies,
    instructions: replies.map(({ metadata }) => String(metadata?.event_payload["instruction_id"])),
  };
}

/** Whether the engine could know the outcome. */
const certainty: readonly (readonly [FaultKind, boolean])[] = [
  ["rateLimit", true],
  ["error500", false],
  ["error500AfterAccept", false],
  ["hangBeforeAccept", false],
  ["hang", false],
  ["dropBeforeAccept", false],
  ["dropAfterAccept", false],
  ["cutAnswer", false],
  ["garbage", false],
  ["late", false],
];

describe("Slack fails, and a request's story is posted once", () => {
  test.each(certainty)("%s: each message is there once, in its thread", async (kind, certain) => {
    const { faults } = stage.sandbox();
    const times = 2;
    faults.add({ provider: "slack", method: "chat.postMessage", kind, times, retryAfterSeconds: 0 });
    faults.add({ provider: "slack", method: "chat.update", kind, times: 1, retryAfterSeconds: 0 });
    await stage.run(...slackRails(700));
    const { id } = await surfaces.create();
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await surfaces.untilFinished(id);

    const { roots, replies, instructions } = storyOf(id);
    expect(roots).toHaveLength(1);
    expect(instructions).toEqual([`${id}#2`, `${id}#3`]);
    expect(new Set(replies.map(({ threadTs }) => threadTs))).toEqual(new Set([roots[0]?.ts]));
    const lines = await stage.lines(id, "slack");
    expect(lines.filter(({ state }) => state === "FAILED")).toEqual([]);
    expect(lines.some(({ state }) => state === "RETRYABLE")).toBe(true);
    expect(lines.some(({ uncertain }) => uncertain)).toBe(!certain);
  });

  test("a refusal is given up immediately and says why, and nothing is posted below a missing root", async () => {
    stage.sandbox().faults.add({ provider: "slack", method: "chat.postMessage", kind: "refuse", times: 1 });
    await stage.run(...slackRails(5_000));
    const { id } = await surfaces.create();
    await surfaces.untilFinished(id);
    const lines = await stage.lines(id, "slack");
    expect(lines.at(-1)).toMatchObject({ effect: "slack:root", state: "FAILED", uncertain: false });
    expect(storyOf(id).roots).toEqual([]);
  });
});

describe("an answer to a click whose outcome is unknown", () => {
  test("is shown at most once, given up, and waits for a person among the dead letters", async () => {
    await rowsOf(
      surfaces.superuser,
      `select outbox.create_stream('clicks', false, p_resend_blind => false, p_max_tries => 3, p_backoff_base_ms => 10)`,
    );
    stage.sandbox().faults.add({ provider: "slack", method: "chat.postEphemeral", kind: "dropAfterAccept", times: 1 });
    const [, interactions] = slackRails(5_000);
    if (interactions === undefined) throw new Error("there are two");
    await rowsOf(surfaces.superuser, "select outbox.register_rail('slack-interaction', 'blind', 5000)");
    await rowsOf(surfaces.superuser, "select outbox.grant_rail('clicks', 'slack-interaction')");
    const payload = { method: "chat.postEphemeral", channel: slackChannel, user: "URILEY01", text: "You may not." };
    await rowsOf(
      surfaces.superuser,
      "select outbox.enqueue('clicks', null, 'click-1', 'note', 'slack-interaction', $1)",
      [JSON.stringify(payload)],
    );
    const relay = createRelay({
      connectionString: surfaces.db.as("headroom_executor").url,
      rails: [interactions],
      streams: ["clicks"],
    });
    await relay.start();
    try {
      const dead = await until(
        () => rowsOf<object>(surfaces.superuser, "select * from outbox.list_dead('clicks')"),
        (rows) => rows.length > 0,
        "the note to be given up",
      );
      expect(dead).toMatchObject([{ parked: true, uncertain: true, error_code: "outcome_unknown" }]);
    } finally {
      await relay.stop();
    }
    expect(stage.sandbox().slack.ephemerals("URILEY01")).toHaveLength(1);
  });
});
