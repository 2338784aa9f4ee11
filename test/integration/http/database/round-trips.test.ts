/**
 * How often a webhook waits for the database: one message and one answer, even when it is refused.
 */
import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { countRoundTrips } from "../../../../bench/walk/round-trips.ts";
import {
  clickBody,
  commandBody,
  secretKey,
  setSecret,
  sign,
  startSlack,
  submissionBody,
  typed,
} from "../../inbound/slack/slack.ts";
import { startTestGateway } from "../harness.ts";

const slack = await startSlack(18);
const { workflow } = slack;
const gateway = await startTestGateway(workflow.db, { database: { secretKey } });

interface Sent {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends it, and returns how often the database was waited for. */
async function send(path: string, { body, headers }: Sent): Promise<{ answer: Response; roundTrips: number }> {
  const trips = countRoundTrips();
  try {
    const answer = await fetch(`${gateway.url}${path}`, { method: "POST", body, headers });
    return { answer, roundTrips: trips.count() };
  } finally {
    trips.stop();
  }
}

const create = "create 32XL x4 us-east-1 for Acme owner cora group infra";

test("a command, a form and a button of Slack are each one round trip, whatever they do", async () => {
  // A server's first request checks whether there is a function to call before each.
  await send("/webhooks/slack", sign(commandBody("help")));
  const created = await send("/webhooks/slack", sign(commandBody(create)));
  expect(created.roundTrips).toBe(1);
  const id = /CR-\d{4}-\d+/.exec(await created.answer.text())?.[0] ?? "none";
  expect((await workflow.row(id)).state).toBe("UNDER_REVIEW");

  const clicked = await send("/webhooks/slack", sign(clickBody("tech_approve", id, "U0TESS")));
  expect(clicked).toMatchObject({ answer: { status: 200 }, roundTrips: 1 });
  expect((await workflow.row(id)).technical_approved_by).toBe("tess");

  const fields = { size: typed("32XL"), region: typed("us-east-1"), owner: { selected_user: "U0CORA" } };
  const submitted = await send("/webhooks/slack", sign(submissionBody("capacity_intake", fields, {}, "U0RITA")));
  expect(submitted).toMatchObject({ answer: { status: 200 }, roundTrips: 1 });
});

test("a repeated command and a forged one are also one round trip", async () => {
  const signed = sign(commandBody(create));
  await send("/webhooks/slack", signed);
  const repeated = await send("/webhooks/slack", signed);
  expect(repeated).toMatchObject({ answer: { status: 200 }, roundTrips: 1 });
  expect(await repeated.answer.text()).toContain("This was already done");
  const forged = await send("/webhooks/slack", sign(commandBody(create), { secret: "0".repeat(32) }));
  expect(forged).toMatchObject({ answer: { status: 401 }, roundTrips: 1 });
});

test("a webhook of Linear and one of GitHub are each one round trip", async () => {
  const secret = "s".repeat(40);
  const digest = (body: string): string => createHmac("sha256", secret).update(body).digest("hex");
  await setSecret(workflow, "LINEAR_WEBHOOK_SECRET", secret);
  await setSecret(workflow, "GITHUB_WEBHOOK_SECRET", secret);
  const linear = JSON.stringify({ type: "Issue", action: "update", data: { id: "x" }, webhookTimestamp: Date.now() });
  const github = JSON.stringify({
    action: "completed",
    workflow_run: { id: 7 },
    repository: { full_name: "acme/infra" },
  });
  expect(
    await send("/webhooks/linear", { body: linear, headers: { "linear-signature": digest(linear) } }),
  ).toMatchObject({ answer: { status: 200 }, roundTrips: 1 });
  expect(
    await send("/webhooks/github", {
      body: github,
      headers: { "x-github-event": "workflow_run", "x-hub-signature-256": `sha256=${digest(github)}` },
    }),
  ).toMatchObject({ answer: { status: 200 }, roundTrips: 1 });
});
