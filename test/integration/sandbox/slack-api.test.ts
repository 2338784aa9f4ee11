// oxlint-disable unicorn/require-post-message-target-origin -- this is Slack's method, not the browser's
import {
  ErrorCode,
  LogLevel,
  WebClient,
  type ConversationsHistoryResponse,
  type UsersListResponse,
} from "@slack/web-api";
import { describe, expect, test } from "vitest";
import { setStage } from "./harness.ts";

const channel = "C0CAPACITY";
const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } }) as const;

function client(url: string, token = "xoxb-sandbox"): WebClient {
  return new WebClient(token, {
    slackApiUrl: `${url}/slack/api/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logLevel: LogLevel.ERROR,
  });
}

/** The code that Slack refuses with; the SDK throws it. */
async function refusalOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error && "data" in error) return (error.data as { error: string }).error;
    throw error;
  }
  return "no refusal";
}

describe("the Slack stand-in, through Slack's own SDK", () => {
  test("a message is posted, threaded, updated, found by its metadata and deleted", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    const metadata = { event_type: "capacity_request", event_payload: { instruction_id: "CR-2026-000001#1" } };
    const root = await slack.chat.postMessage({ channel, text: "root & <b>", blocks: [section("*root*")], metadata });
    const reply = await slack.chat.postMessage({ channel, text: "reply 💧 a+b=c%2B", thread_ts: root.ts as string });
    expect(root.channel).toBe(channel);
    expect(Number(reply.ts)).toBeGreaterThan(Number(root.ts));

    const updated = await slack.chat.update({ channel, ts: root.ts as string, text: "changed" });
    expect(updated.text).toBe("changed");
    const history = await slack.conversations.history({ channel, include_all_metadata: true });
    expect(history.messages).toHaveLength(1);
    expect(history.messages?.[0]).toMatchObject({ text: "changed", metadata, reply_count: 1, latest_reply: reply.ts });
    const plain = await slack.conversations.history({ channel });
    expect(plain.messages?.[0]).not.toHaveProperty("metadata");

    const thread = await slack.conversations.replies({ channel, ts: root.ts as string });
    expect(thread.messages?.map(({ text }) => text)).toEqual(["changed", "reply 💧 a+b=c%2B"]);
    await slack.chat.delete({ channel, ts: reply.ts as string });
    expect(stage.sandbox.slack.thread(channel, root.ts as string)).toHaveLength(1);
  });

  test("history comes in pages, newest first, and the SDK reads them all", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    for (let n = 1; n <= 7; n += 1) await slack.chat.postMessage({ channel, text: `m${n}` });
    const texts: (string | undefined)[] = [];
    for await (const page of slack.paginate("conversations.history", { channel, limit: 3 })) {
      const { messages = [] } = page as ConversationsHistoryResponse;
      texts.push(...messages.map(({ text }) => text));
    }
    expect(texts).toEqual(["m7", "m6", "m5", "m4", "m3", "m2", "m1"]);
    const [third] = stage.sandbox.slack.messages(channel).slice(2);
    const since = await slack.conversations.history({ channel, oldest: third?.ts ?? "", inclusive: true, limit: 999 });
    expect(since.messages).toHaveLength(5);
  });

  test("a message to a person goes to their conversation with the app, by whose id it is updated", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    const sent = await slack.chat.postMessage({ channel: "UCASEY01", text: "a review is waiting" });
    expect(sent.channel).toBe("DCASEY01");
    const ts = sent.ts as string;
    expect(await refusalOf(slack.chat.update({ channel: "UCASEY01", ts, text: "x" }))).toBe("channel_not_found");
    expect((await slack.chat.update({ channel: "DCASEY01", ts, text: "x" })).ok).toBe(true);
  });

  test("identity and places: auth.test, channels and people are listed as in the sample data", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    expect(await slack.auth.test()).toMatchObject({
      user_id: "U0HEADROOM",
      bot_id: "B0HEADROOM",
      team_id: "T0SANDBOX",
    });
    const { channels } = await slack.conversations.list({ limit: 1 });
    expect(channels?.[0]).toMatchObject({ id: channel, name: "capacity-requests", is_member: true });
    expect((await slack.conversations.info({ channel })).channel?.name).toBe("capacity-requests");
    expect((await slack.users.info({ user: "UVERA001" })).user?.real_name).toBe("Vera Novak");
    const people: unknown[] = [];
    for await (const page of slack.paginate("users.list", { limit: 3 })) {
      people.push(...((page as UsersListResponse).members ?? []));
    }
    expect(people).toHaveLength(8);
  });

  test("invalid calls are refused with Slack's own code", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    const { ts = "" } = await slack.chat.postMessage({ channel, text: "root" });
    const person = await stage.sandbox.slack.say({ user: "URILEY01", text: "mine" });
    const cases: [Promise<unknown>, string][] = [
      [client(stage.sandbox.url, "").auth.test(), "not_authed"],
      [client(stage.sandbox.url, "xoxp-other").auth.test(), "invalid_auth"],
      [slack.chat.postMessage({ channel: "C0NOWHERE", text: "x" }), "channel_not_found"],
      [slack.chat.postMessage({ channel: "C0BOARD000", text: "x" }), "not_in_channel"],
      [slack.chat.postMessage({ channel, text: "" }), "no_text"],
      [slack.chat.postMessage({ channel, text: "x".repeat(40_001) }), "msg_too_long"],
      [slack.chat.postMessage({ channel, text: "x", thread_ts: "1.000001" }), "thread_not_found"],
      [slack.chat.postMessage({ channel, text: "x", blocks: [section("x".repeat(3_001))] }), "invalid_blocks"],
      [slack.chat.postMessage({ channel, text: "x", blocks: Array(51).fill(section("x")) }), "invalid_blocks"],
      [
        slack.chat.postMessage({ channel, text: "x", blocks: Array(5).fill(section("x".repeat(2_999))) }),
        "msg_blocks_too_long",
      ],
      [slack.apiCall("chat.postMessage", { channel, text: "x", blocks: "[{" }), "invalid_blocks_format"],
      [slack.apiCall("chat.postMessage", { channel, text: "x", metadata: [1] }), "invalid_metadata_format"],
      [slack.chat.update({ channel, ts: "1.000001", text: "x" }), "message_not_found"],
      [slack.chat.update({ channel, ts: person.ts, text: "x" }), "cant_update_message"],
      [slack.chat.delete({ channel, ts: person.ts }), "cant_delete_message"],
      [slack.conversations.replies({ channel, ts: "1.000001" }), "thread_not_found"],
      [slack.conversations.history({ channel, cursor: "nonsense" }), "invalid_cursor"],
      [slack.chat.postEphemeral({ channel, user: "UNOBODY", text: "x" }), "user_not_in_channel"],
      [slack.users.info({ user: "UNOBODY" }), "user_not_found"],
      [slack.apiCall("chat.unheardOf"), "unknown_method"],
      [slack.apiCall("chat.postMessage", { text: "x" }), "invalid_arguments"],
    ];
    expect(await Promise.all(cases.map(([call]) => refusalOf(call)))).toEqual(cases.map(([, code]) => code));
    expect(stage.sandbox.slack.messages(channel).map((message) => message.ts)).toEqual([ts, person.ts]);
  });

  test("a broken block is identified by its position", async () => {
    await using stage = await setStage();
    const response = await fetch(`${stage.sandbox.url}/slack/api/chat.postMessage`, {
      method: "POST",
      headers: { "content-type": "application/json; charset=utf-8", authorization: "Bearer xoxb-sandbox" },
      body: JSON.stringify({ channel, text: "x", blocks: [{ type: "header", text: { type: "mrkdwn", text: "x" } }] }),
    });
    const answer = (await response.json()) as { error: string; response_metadata: { messages: string[] } };
    expect(answer.error).toBe("invalid_blocks");
    expect(answer.response_metadata.messages[0]).toContain("[json-pointer:/blocks/0/text/type]");
  });

  test("an ephemeral note is seen by one person and is in no history", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    await slack.chat.postEphemeral({ channel, user: "URILEY01", text: "only you" });
    expect(stage.sandbox.slack.ephemerals("URILEY01").map(({ text }) => text)).toEqual(["only you"]);
    expect(stage.sandbox.slack.ephemerals("UCASEY01")).toEqual([]);
    expect((await slack.conversations.history({ channel })).messages).toEqual([]);
  });

  test("the SDK recognises a planned rate limit", async () => {
    await using stage = await setStage();
    const slack = client(stage.sandbox.url);
    stage.sandbox.faults.add({ provider: "slack", kind: "rateLimit", times: 1, retryAfterSeconds: 7 });
    await expect(slack.chat.postMessage({ channel, text: "x" })).rejects.toMatchObject({
      code: ErrorCode.RateLimitedError,
      retryAfter: 7,
    });
    expect((await slack.chat.postMessage({ channel, text: "x" })).ok).toBe(true);
  });
});
