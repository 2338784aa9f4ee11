import { afterAll, expect, test } from "vitest";
import { createSlackRail } from "../../../../src/rails/slack/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import type { FaultKind } from "../../../../src/sandbox/core/faults.ts";
import type { SlackMessage } from "../../../../src/sandbox/slack/state.ts";
import { until } from "../../outbox/relay/stage.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startFaultStage } from "../fault-stage.ts";
import { slackToken } from "../provider-plans.ts";

const channels = Array.from({ length: 5 }, (_none, at) => ({ id: `C0ROOM${at}`, name: `room-${at}` }));
const stage = await startFaultStage({ ...defaultSampleData, slackChannels: channels });
const { surfaces } = stage;
const count = 200;

/** Together they fail half of the calls, for posting, changing and searching alike; the random numbers are seeded. */
const faults: readonly FaultKind[] = [
  "error500",
  "error500AfterAccept",
  "dropBeforeAccept",
  "dropAfterAccept",
  "garbage",
];

let rail: ReturnType<typeof createSlackRail> | undefined;
afterAll(() => rail?.close());

function storiesOf(messages: readonly SlackMessage[]): Map<string, SlackMessage[]> {
  return Map.groupBy(messages, ({ metadata }) => String(metadata?.event_payload["cr_id"]));
}

test("with half of Slack's calls failing, 200 requests at once are each told once, and no reply precedes its root", async () => {
  const sandbox = stage.sandbox();
  for (const [at, kind] of faults.entries()) {
    sandbox.faults.add({ provider: "slack", kind, probability: 0.13, seed: 7 * at + 1 });
  }
  await surfaces.settings({ linear_team_id: null });
  rail = createSlackRail({ token: slackToken, apiUrl: `${sandbox.url}/slack/api/`, visibleAfterMs: 0 });
  await stage.run(rail);
  const ids = await Promise.all(
    Array.from({ length: count }, async (_none, at) => {
      const { id } = await surfaces.create({ channel: channels[at % channels.length]?.id ?? null });
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      return id;
    }),
  );
  await until(
    () => oneOf<{ waiting: number }>(surfaces.superuser, "select count(*)::integer as waiting from outbox.pending"),
    ({ waiting }) => waiting === 0,
    "everything to be said",
    150_000,
  );

  const failed = sandbox.requests.list({ provider: "slack" }).filter(({ fault }) => fault !== undefined).length;
  const all = sandbox.requests.list({ provider: "slack" }).length;
  expect(failed / all).toBeGreaterThan(0.4);
  expect(await rowsOf(surfaces.superuser, "select * from outbox.list_dead('capacity')")).toEqual([]);
  const stories = storiesOf(channels.flatMap(({ id }) => sandbox.slack.messages(id)));
  expect(new Set(stories.keys())).toEqual(new Set(ids));
  for (const [id, [root, ...replies]] of stories) {
    expect(root?.threadTs).toBeUndefined();
    const told = replies.map(({ metadata, threadTs }) => [metadata?.event_payload["instruction_id"], threadTs]);
    expect(told).toEqual([
      [`${id}#2`, root?.ts],
      [`${id}#3`, root?.ts],
    ]);
  }
  // The root of each shows the current state, whichever of its updates was lost.
  const now = await rowsOf<{ id: string; text: string }>(
    surfaces.superuser,
    "select r.id, capacity.slack_root_now(jsonb_build_object('request', r.id)) ->> 'text' as text from capacity.requests r",
  );
  expect(new Map([...stories].map(([id, [root]]) => [id, root?.text]))).toEqual(
    new Map(now.map(({ id, text }) => [id, text])),
  );
}, 240_000);
