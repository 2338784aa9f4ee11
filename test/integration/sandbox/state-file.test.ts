// oxlint-disable unicorn/require-post-message-target-origin -- this is Slack's method, not the browser's
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LogLevel, WebClient } from "@slack/web-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { setStage } from "./harness.ts";

const channel = "C0CAPACITY";
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "headroom-sandbox-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

function slackOf({ url }: Sandbox): WebClient {
  return new WebClient("xoxb-sandbox", { slackApiUrl: `${url}/slack/api/`, logLevel: LogLevel.ERROR });
}

async function createIssue({ url, sampleData }: Sandbox, title: string): Promise<void> {
  const query = "mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { success } }";
  const body = JSON.stringify({ query, variables: { input: { teamId: sampleData.linearTeam.id, title } } });
  await fetch(`${url}/linear/graphql`, { method: "POST", headers: { authorization: "k" }, body });
}

function sendMail({ url }: Sandbox): Promise<Response> {
  const headers = { "content-type": "application/json", "x-server-api-key": "k" };
  const body = JSON.stringify({ to: "buyer@acme.example", from: "a@b.example", subject: "Hi", plain_body: "x" });
  return fetch(`${url}/postal/api/v1/send/message`, { method: "POST", headers, body });
}

describe("a sandbox that keeps its state in a file", () => {
  test("is restored by a second start: posted messages can be updated, answered and clicked, and no id is reused", async () => {
    const keepIn = join(folder, "kept.json");
    let ts = "";
    {
      await using stage = await setStage({ keepIn });
      const button = { type: "button", action_id: "go", value: "1", text: { type: "plain_text", text: "Go" } } as const;
      const blocks = [{ type: "actions", block_id: "b", elements: [button] } as const];
      ({ ts = "" } = await slackOf(stage.sandbox).chat.postMessage({ channel, text: "root", blocks }));
      await createIssue(stage.sandbox, "first");
      await sendMail(stage.sandbox);
    }
    expect((await stat(keepIn)).mode & 0o777).toBe(0o600);

    await using stage = await setStage({ keepIn });
    const slack = slackOf(stage.sandbox);
    await stage.sandbox.slack.click({ user: "UCASEY01", channel, ts, actionId: "go" });
    const payload = JSON.parse(new URLSearchParams(stage.ear.heard[0]?.body).get("payload") ?? "") as object;
    expect(payload).toMatchObject({ container: { is_ephemeral: false }, message: { text: "root" } });
    await slack.chat.postMessage({ channel, thread_ts: ts, text: "reply" });
    await slack.chat.update({ channel, ts, text: "changed" });
    expect(stage.sandbox.slack.thread(channel, ts).map(({ text }) => text)).toEqual(["changed", "reply"]);
    await createIssue(stage.sandbox, "second");
    expect(stage.sandbox.linear.issues().map(({ identifier }) => identifier)).toEqual(["CAP-1", "CAP-2"]);
    expect(stage.sandbox.mail.list("buyer@acme.example")).toHaveLength(1);
  });

  test("starts over, and says so, when the file is not its own", async () => {
    const keepIn = join(folder, "broken.json");
    await writeFile(keepIn, '{"version":1,"parts":{"ids":[');
    const events: string[] = [];
    await using stage = await setStage({ keepIn, log: (event) => events.push(event) });
    expect(stage.sandbox.slack.messages(channel)).toEqual([]);
    expect(events).toEqual(["sandbox_state_unreadable"]);
  });

  test("leaves no temporary file behind", async () => {
    const keepIn = join(folder, "tidy.json");
    {
      await using stage = await setStage({ keepIn });
      for (let n = 0; n < 20; n += 1) await slackOf(stage.sandbox).chat.postMessage({ channel, text: `m${n}` });
    }
    expect((await readdir(folder)).filter((name) => name.startsWith("tidy"))).toEqual(["tidy.json"]);
  });
});
