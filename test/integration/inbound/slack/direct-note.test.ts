/**
 * A note to a person who gave no channel, all the way: from their form through the relay to their conversation with the app.
 */
import { expect, test } from "vitest";
import { createRelay } from "../../../../src/outbox/index.ts";
import { createSlackInteractionRail, createSlackRail } from "../../../../src/rails/slack/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import { until } from "../../outbox/relay/stage.ts";
import { sandboxSecrets } from "../../rails/harness.ts";
import { slackToken } from "../../rails/provider-plans.ts";
import { startSlack, typed } from "./slack.ts";

const slack = await startSlack(18);

test("a person whose form names no channel finds its late refusal in their conversation with the app", async () => {
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: sandboxSecrets });
  const settings = { token: slackToken, apiUrl: `${sandbox.url}/slack/api/` };
  const rails = [createSlackRail(settings), createSlackInteractionRail(settings)];
  const connectionString = slack.workflow.db.as("headroom_executor").url;
  const relay = createRelay({ connectionString, rails, streams: ["interactions"] });
  try {
    const metadata = { request: "CR-2026-999999", action: "cancel" };
    await slack.submit("capacity_reason", { reason: typed("not needed") }, metadata, "URILEY01", 2);
    await relay.start();
    const messages = await until(
      () => Promise.resolve(sandbox.slack.messages("URILEY01")),
      (found) => found.length > 0,
      "the note to arrive",
    );
    expect(messages).toMatchObject([
      { text: expect.stringMatching(/^Your form was not submitted\. There is no such/) },
    ]);
  } finally {
    await relay.stop();
    for (const rail of rails) rail.close();
    await sandbox.close();
  }
});
