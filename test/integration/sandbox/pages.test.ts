// oxlint-disable unicorn/require-post-message-target-origin -- this is Slack's method, not the browser's
import { LogLevel, WebClient } from "@slack/web-api";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { setStage } from "./harness.ts";

const channel = "C0CAPACITY";

function slackOf(sandbox: Sandbox): WebClient {
  const slackApiUrl = `${sandbox.url}/slack/api/`;
  return new WebClient("xoxb-sandbox", { slackApiUrl, retryConfig: { retries: 0 }, logLevel: LogLevel.ERROR });
}

async function markupOf(sandbox: Sandbox, path: string): Promise<string> {
  const response = await fetch(`${sandbox.url}${path}`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  return response.text();
}

/** Sends a form as a browser without scripts does. */
function post(sandbox: Sandbox, path: string, fields: Record<string, string>, headers = {}): Promise<Response> {
  const body = new URLSearchParams(fields);
  return fetch(`${sandbox.url}${path}`, { method: "POST", body, redirect: "manual", headers });
}

describe("the pages, without scripts", () => {
  test("Slack's markup becomes HTML, and what is not markup stays text", async () => {
    await using stage = await setStage();
    const words =
      "*bold* _it_ ~no~ `x<y` <@UCASEY01> <https://a.example/?b=1&amp;c|a &lt;link&gt;> :white_check_mark:\n&gt;quoted\n<script>alert(1)</script> <javascript:alert(1)|x>";
    await slackOf(stage.sandbox).chat.postMessage({ channel, text: words });
    const markup = await markupOf(stage.sandbox, "/slack?as=URILEY01");
    for (const expected of [
      "<strong>bold</strong>",
      "<em>it</em>",
      "<s>no</s>",
      "@Casey Kim</span>",
      'href="https://a.example/?b=1&amp;c"',
      "a &lt;link&gt;</a>",
      "✅",
      "<blockquote>quoted</blockquote>",
      "&lt;script&gt;",
    ])
      expect(markup).toContain(expected);
    expect(markup).not.toContain("<script>alert");
    expect(markup).not.toContain('href="javascript');
  });

  test("a note for one person is on that person's page only", async () => {
    await using stage = await setStage();
    await slackOf(stage.sandbox).chat.postEphemeral({ channel, user: "URILEY01", text: "not your own request" });
    expect(await markupOf(stage.sandbox, "/slack?as=URILEY01")).toContain("not your own request");
    expect(await markupOf(stage.sandbox, "/slack?as=UCASEY01")).not.toContain("not your own request");
    await slackOf(stage.sandbox).chat.postMessage({ channel: "URILEY01", text: "in private" });
    expect(await markupOf(stage.sandbox, "/slack?as=UCASEY01&channel=DRILEY01")).not.toContain("in private");
    expect(await markupOf(stage.sandbox, "/slack?as=URILEY01&channel=DRILEY01")).toContain("in private");
  });

  test("the input at the bottom takes commands and messages", async () => {
    await using stage = await setStage();
    stage.ear.replies.push({ body: JSON.stringify({ text: "Nothing is waiting." }) });
    const command = await post(stage.sandbox, "/slack/act/write", { as: "URILEY01", channel, text: "/capacity list" });
    expect(command.status).toBe(303);
    expect(new URLSearchParams(stage.ear.heard[0]?.body).get("text")).toBe("list");
    expect(await markupOf(stage.sandbox, command.headers.get("location") ?? "")).toContain("Nothing is waiting.");
    await post(stage.sandbox, "/slack/act/write", { as: "URILEY01", channel, text: "a <b> & *c*" });
    expect(stage.sandbox.slack.messages(channel).map(({ text }) => text)).toEqual(["a &lt;b&gt; &amp; *c*"]);
  });

  test("a form that names missing things says so, and other sites' forms are refused", async () => {
    await using stage = await setStage();
    const gone = { as: "URILEY01", channel, ts: "1.000001", block: "b", action: "a" };
    const missing = await post(stage.sandbox, "/slack/act/click", gone);
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain("There is no message");
    expect((await post(stage.sandbox, "/slack/act/click", {})).status).toBe(400);
    // A page on another port of this machine is the same site, but another origin.
    for (const from of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "http://localhost:3000" },
    ]) {
      expect([from, (await post(stage.sandbox, "/_reset", {}, from)).status]).toEqual([from, 403]);
    }
    for (const from of [{ "sec-fetch-site": "same-origin" }, { origin: stage.sandbox.url }, {}]) {
      expect([from, (await post(stage.sandbox, "/_reset", {}, from)).status]).toEqual([from, 303]);
    }
  });

  test("faults are switched on and off on the first page", async () => {
    await using stage = await setStage();
    await post(stage.sandbox, "/_faults/add", {
      provider: "linear",
      kind: "late",
      times: "3",
      probability: "50",
      method: "",
      ms: "200",
    });
    expect(stage.sandbox.faults.list()).toMatchObject([
      { provider: "linear", kind: "late", times: 3, probability: 0.5, ms: 200 },
    ]);
    expect(await markupOf(stage.sandbox, "/")).toContain("in 50 of 100 calls, 3 times");
    const named = {
      provider: "slack",
      kind: "rateLimit",
      times: "1",
      probability: "",
      method: "chat.postMesage",
      ms: "",
    };
    const added = await post(stage.sandbox, "/_faults/add", named);
    const again = await markupOf(stage.sandbox, added.headers.get("location") ?? "");
    for (const kept of ["<option selected>slack", '<option value="rateLimit" selected>', 'value="chat.postMesage"']) {
      expect(again).toContain(kept);
    }
    expect(again).toContain(", 1 time\n");
    expect(again).toContain("No call with this name has arrived yet");
    await post(stage.sandbox, "/_faults/remove", { id: "all" });
    expect(stage.sandbox.faults.list()).toEqual([]);
    const nonsense = await post(stage.sandbox, "/_faults/add", { provider: "linear", kind: "late", times: "often" });
    expect(nonsense.status).toBe(400);
  });

  test("a mail's HTML is sandboxed, its links are not", async () => {
    await using stage = await setStage();
    await fetch(`${stage.sandbox.url}/postal/api/v1/send/message`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-server-api-key": "k" },
      body: JSON.stringify({
        to: "buyer@acme.example",
        from: "a@b.example",
        subject: "<Hi>",
        html_body: "<script>1</script><a href='http://127.0.0.1:1/c/t'>go</a>",
      }),
    });
    const markup = await markupOf(stage.sandbox, "/mail?to=buyer@acme.example");
    expect(markup).toContain("&lt;Hi&gt;");
    expect(markup).toContain('href="http://127.0.0.1:1/c/t"');
    expect(markup).not.toContain("<script>1");
    const letter = await fetch(`${stage.sandbox.url}/mail/mail-0001/html`);
    expect(letter.headers.get("content-security-policy")).toMatch(/default-src 'none'.*sandbox allow-popups/);
    expect(await markupOf(stage.sandbox, "/mail?to=vera@headroom.example")).toContain("No mail yet");
  });

  test("an issue is commented on and moved, a run is ended, a session is paid", async () => {
    await using stage = await setStage();
    const { sandbox } = stage;
    const query = `mutation { issueCreate(input: { teamId: "${sandbox.sampleData.linearTeam.id}", title: "CR-1" }) { success } }`;
    await fetch(`${sandbox.url}/linear/graphql`, {
      method: "POST",
      headers: { authorization: "k" },
      body: JSON.stringify({ query }),
    });
    await post(sandbox, "/linear/act/comment", { issue: "CAP-1", person: "ines", body: "Rack **12**" });
    await post(sandbox, "/linear/act/move", { issue: "CAP-1", person: "ines", state: "Done" });
    const issue = await markupOf(sandbox, "/linear/issue/CAP-1");
    expect(issue).toContain("Rack <strong>12</strong>");
    expect(issue).toContain("Done</span>");

    const dispatches = "/github/repos/acme/infra/actions/workflows/provision.yml/dispatches";
    await fetch(`${sandbox.url}${dispatches}`, {
      method: "POST",
      headers: { authorization: "Bearer x" },
      body: '{"ref":"main"}',
    });
    await post(sandbox, "/github/act/outcome", { run: String(sandbox.github.runs()[0]?.id), outcome: "failure" });
    expect(await markupOf(sandbox, "/github")).toContain("failure");

    const order = {
      mode: "payment",
      success_url: "http://127.0.0.1/paid",
      client_reference_id: "CR-1",
      "line_items[0][price_data][currency]": "jpy",
      "line_items[0][price_data][unit_amount]": "500",
      "line_items[0][price_data][product_data][name]": "32XL",
    };
    const made = await post(sandbox, "/v1/checkout/sessions", order, { authorization: "Bearer sk_test" });
    const { id } = (await made.json()) as { id: string };
    expect(await markupOf(sandbox, `/stripe/checkout/${id}`)).toContain("Pay ¥500");
    const paid = await post(sandbox, `/stripe/checkout/${id}`, { how: "now" });
    expect(paid.headers.get("location")).toBe("http://127.0.0.1/paid");
    expect((await post(sandbox, `/stripe/checkout/${id}`, { how: "now" })).status).toBe(409);
    expect(await markupOf(sandbox, "/stripe")).toContain("complete, paid");
  });
});
