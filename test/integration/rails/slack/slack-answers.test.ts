import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Json, RailMessage } from "../../../../src/contract/rail.ts";
import { createSlackInteractionRail, createSlackRail } from "../../../../src/rails/slack/rail.ts";
import type { SlackRail } from "../../../../src/rails/slack/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer } from "../scripted-server.ts";
import type { ScriptedAnswer, ScriptedServer } from "../scripted-server.ts";

const token = "xoxb-0000-very-secret";
const mark = { cr_id: "CR-2026-000001", instruction_id: "CR-2026-000001#2", effect: "slack:reply" };
const reply = {
  method: "chat.postMessage",
  channel: "C0CAPACITY",
  text: "approved",
  blocks: [{ type: "divider" }],
  thread_ts: "1700000000.000100",
  metadata: { event_type: "capacity_request", event_payload: mark },
};

let slack: ScriptedServer;
let rail: SlackRail;
let interactions: SlackRail;

beforeEach(async () => {
  slack = await startScriptedServer();
  const settings = { token, apiUrl: `${slack.url}/api/` };
  rail = createSlackRail(settings);
  interactions = createSlackInteractionRail(settings);
});

afterEach(async () => {
  rail.close();
  interactions.close();
  await slack.close();
});

function answering(...answers: readonly ScriptedAnswer[]): void {
  slack.script.push(...answers);
}

function formOf(index: number): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(slack.requests[index]?.body));
}

const send = (payload: Json, changes: Partial<RailMessage> = {}) =>
  rail.send({ ...messageOf(payload), ...changes }, notAborted);
const lookUp = (payload: Json, changes: Partial<RailMessage> = {}) =>
  rail.lookup?.({ ...messageOf(payload), ...changes }, notAborted);

describe("a message to Slack", () => {
  test("is posted with its blocks, its thread and its mark, and never with its method as an argument", async () => {
    answering({ body: { ok: true, channel: "C0CAPACITY", ts: "1700000001.000200", message: { text: "approved" } } });
    expect(await send(reply)).toEqual({
      kind: "delivered",
      code: "ok",
      reference: "C0CAPACITY/1700000001.000200",
      response: { ok: true, channel: "C0CAPACITY", ts: "1700000001.000200" },
    });
    expect(slack.requests[0]).toMatchObject({
      method: "POST",
      path: "/api/chat.postMessage",
      headers: { authorization: `Bearer ${token}` },
    });
    const form = formOf(0);
    expect(form).toMatchObject({ channel: "C0CAPACITY", text: "approved", thread_ts: "1700000000.000100" });
    expect(form).not.toHaveProperty("method");
    expect(form).not.toHaveProperty("token");
    expect(JSON.parse(form["metadata"] ?? "")).toEqual(reply.metadata);
    expect(JSON.parse(form["blocks"] ?? "")).toEqual(reply.blocks);
  });

  test("without its own mark gets the row's id as its mark", async () => {
    answering({ body: { ok: true, channel: "C0CAPACITY", ts: "1.2" } });
    const { metadata: _own, ...unmarked } = reply;
    const message = messageOf(unmarked);
    await rail.send(message, notAborted);
    const sent: unknown = JSON.parse(formOf(0)["metadata"] ?? "");
    expect(sent).toEqual({ event_type: "headroom_outbox", event_payload: { outbox_id: message.outboxId } });
  });

  test("that is an update keeps the payload's mark", async () => {
    answering({ body: { ok: true, channel: "C0CAPACITY", ts: "1700000000.000100", text: "now" } });
    const payload = { method: "chat.update", channel: "C0CAPACITY", ts: "1700000000.000100", text: "now" };
    expect(await send(payload)).toMatchObject({ kind: "delivered" });
    expect(slack.requests[0]?.path).toBe("/api/chat.update");
    expect(formOf(0)).not.toHaveProperty("metadata");
  });

  test.each<[string, ScriptedAnswer, object]>([
    [
      "a request for a pause by status",
      { status: 429, headers: { "retry-after": "30" }, body: { ok: false, error: "ratelimited" } },
      { kind: "retry", code: "http_429", afterMs: 30_000, throttled: true },
    ],
    [
      "a request for a pause without a time",
      { status: 429, body: "slow down" },
      { kind: "retry", code: "http_429", throttled: true },
    ],
    [
      "a request for a pause by error code",
      { headers: { "retry-after": "2" }, body: { ok: false, error: "ratelimited" } },
      { kind: "retry", code: "ratelimited", afterMs: 2_000, throttled: true },
    ],
    [
      "a channel that is gone",
      { body: { ok: false, error: "is_archived" } },
      { kind: "rejected", code: "is_archived" },
    ],
    ["invalid blocks", { body: { ok: false, error: "invalid_blocks" } }, { kind: "rejected", code: "invalid_blocks" }],
    ["a revoked token", { body: { ok: false, error: "token_revoked" } }, { kind: "retry", code: "token_revoked" }],
    [
      "an unknown code",
      { body: { ok: false, error: "mercury_retrograde" } },
      { kind: "rejected", code: "slack_error", reason: expect.stringContaining("mercury_retrograde") },
    ],
    [
      "an error after which it may have been done",
      { body: { ok: false, error: "internal_error" } },
      { kind: "unknown", code: "internal_error" },
    ],
    ["a failing server", { status: 500, body: "oops" }, { kind: "unknown", code: "http_5xx" }],
    ["a balancer that lost track of it", { status: 503, body: "later" }, { kind: "unknown", code: "http_5xx" }],
    [
      "a balancer that says for how long",
      { status: 503, headers: { "retry-after": "9" }, body: "" },
      { kind: "unknown", code: "http_5xx", afterMs: 9_000, throttled: true },
    ],
    [
      "a server that says that it accepts nothing now",
      { status: 503, headers: { "retry-after": "3" }, body: { ok: false, error: "service_unavailable" } },
      { kind: "retry", code: "service_unavailable", afterMs: 3_000, throttled: true },
    ],
    [
      "an error with a failing status after which it may have been done",
      { status: 503, body: { ok: false, error: "channel_not_found" } },
      { kind: "unknown", code: "http_5xx" },
    ],
    ["a proxy in the way", { status: 403, body: "<html>" }, { kind: "retry", code: "http_other" }],
    [
      "a redirect",
      { status: 302, headers: { location: "/elsewhere" }, body: "" },
      { kind: "retry", code: "http_other" },
    ],
    ["an answer without the message's timestamp", { body: { ok: true } }, { kind: "unknown", code: "bad_answer" }],
    ["an answer that is not JSON", { body: '{"ok": tr' }, { kind: "unknown", code: "bad_answer" }],
    ["an answer with another structure", { body: [1, 2] }, { kind: "unknown", code: "bad_answer" }],
  ])("meets %s", async (_what, answer, outcome) => {
    answering(answer);
    expect(await send(reply)).toMatchObject(outcome);
    expect(slack.requests).toHaveLength(1);
  });

  test("is refused before any call when its payload could not be looked up or could speak as somebody else", () => {
    const bad: Json[] = [
      null,
      {},
      { ...reply, method: "chat.delete" },
      { ...reply, channel: "#general" },
      { ...reply, thread_ts: 1_700_000_000 },
      { ...reply, text: "" },
      { ...reply, token: "xoxb-another" },
      { ...reply, metadata: { event_type: "capacity_request", event_payload: {} } },
      { method: "chat.update", channel: "C0CAPACITY", text: "no timestamp" },
    ];
    for (const payload of bad)
      expect(rail.validate?.(messageOf(payload)), JSON.stringify(payload)).toMatchObject({ ok: false });
    expect(rail.validate?.(messageOf(reply))).toEqual({ ok: true });
  });
});

describe("a search for a message", () => {
  const other = { event_type: "capacity_request", event_payload: { ...mark, effect: "slack:root" } };
  const found = { ts: "1700000009.000900", metadata: { ...reply.metadata } };

  test("reads a thread page by page, from shortly before the row was made", async () => {
    answering(
      {
        body: {
          ok: true,
          messages: [{ ts: "1.1" }, { ts: "1.2", metadata: other }, { ts: "1.3", metadata: "not ours" }],
          response_metadata: { next_cursor: "page-2" },
        },
      },
      { body: { ok: true, messages: [found], response_metadata: { next_cursor: "page-3" } } },
    );
    const createdAt = new Date("2026-01-01T00:10:00Z");
    expect(await lookUp(reply, { createdAt })).toEqual({
      kind: "found",
      reference: "C0CAPACITY/1700000009.000900",
      response: { ok: true, channel: "C0CAPACITY", ts: "1700000009.000900" },
    });
    expect(slack.requests.map(({ path }) => path)).toEqual([
      "/api/conversations.replies",
      "/api/conversations.replies",
    ]);
    expect(formOf(0)).toMatchObject({
      channel: "C0CAPACITY",
      ts: "1700000000.000100",
      include_all_metadata: "true",
      oldest: String(Date.parse("2026-01-01T00:05:00Z") / 1000),
    });
    expect(formOf(1)).toMatchObject({ cursor: "page-2" });
  });

  test("reads the channel for a root, and treats a missing message as absent", async () => {
    answering({ body: { ok: true, messages: [{ ts: "1.1", metadata: other }] } });
    const { thread_ts: _thread, ...root } = reply;
    expect(await lookUp(root)).toEqual({ kind: "absent" });
    expect(slack.requests[0]?.path).toBe("/api/conversations.history");
  });

  test("reads the conversation with a person to whom a message was sent", async () => {
    answering({ body: { ok: true, channel: { id: "D0DIRECT" } } }, { body: { ok: true, messages: [found] } });
    const { thread_ts: _thread, ...direct } = { ...reply, channel: "U0PERSON" };
    expect(await lookUp(direct)).toMatchObject({ kind: "found", response: { channel: "D0DIRECT" } });
    expect(slack.requests.map(({ path }) => path)).toEqual(["/api/conversations.open", "/api/conversations.history"]);
    expect(formOf(1)).toMatchObject({ channel: "D0DIRECT" });
  });

  test("that Slack throttles or that never ends proves nothing", async () => {
    answering({ status: 429, headers: { "retry-after": "60" }, body: "" });
    expect(await lookUp(reply)).toMatchObject({ kind: "unavailable", code: "http_429", afterMs: 60_000 });
    const endless = { body: { ok: true, messages: [], response_metadata: { next_cursor: "more" } } };
    answering(...Array.from({ length: 20 }, () => endless));
    expect(await lookUp(reply)).toMatchObject({ kind: "unavailable", code: "too_many_to_search" });
    expect(slack.requests).toHaveLength(21);
  });

  test("does not trust a miss right after a call was given up: the message may still appear", async () => {
    const clock = vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => clock.mockRestore());
    const nothing = { body: { ok: true, messages: [] } };
    answering({ silent: true }, nothing, { body: { ok: true, messages: [found] } });
    const message = { ...messageOf(reply), uncertain: true };
    const timeOut = new AbortController();
    const sending = rail.send(message, { signal: timeOut.signal });
    await vi.waitFor(() => expect(slack.requests).toHaveLength(1), { timeout: 10_000 });
    clock.mockReturnValue(15_000);
    timeOut.abort();
    expect(await sending).toMatchObject({ kind: "unknown", code: "timed_out" });
    expect(await rail.lookup?.(message, notAborted)).toMatchObject({
      kind: "unavailable",
      code: "may_still_appear",
      afterMs: 2_000,
    });
    clock.mockReturnValue(17_000);
    expect(await rail.lookup?.(message, notAborted)).toMatchObject({ kind: "found" });
  });

  test("is not made for an update, which may always be sent again", async () => {
    const payload = { method: "chat.update", channel: "C0CAPACITY", ts: "1700000000.000100", text: "now" };
    expect(await lookUp(payload)).toEqual({ kind: "absent" });
    expect(slack.requests).toHaveLength(0);
  });
});

describe("an answer to a click", () => {
  const open = { method: "views.open", trigger_id: "1.2.abc", view: { type: "modal" } };

  test("opens the view with the trigger", async () => {
    answering({ body: { ok: true, view: { id: "V1" } } });
    expect(await interactions.send(messageOf(open), notAborted)).toEqual({ kind: "delivered", code: "ok" });
    expect(slack.requests[0]?.path).toBe("/api/views.open");
    expect(formOf(0)).toMatchObject({ trigger_id: "1.2.abc", view: '{"type":"modal"}' });
  });

  test("treats a trigger that its own earlier try used as done, and another's as refused", async () => {
    const used = { body: { ok: false, error: "exchanged_trigger_id" } };
    answering(used, used);
    expect(await interactions.send(messageOf(open), notAborted)).toMatchObject({ kind: "rejected" });
    expect(await interactions.send({ ...messageOf(open), tryNo: 2 }, notAborted)).toMatchObject({ kind: "delivered" });
  });

  test("is tried again after a failure of the server", async () => {
    answering({ status: 500, body: "" });
    const note = { method: "chat.postEphemeral", channel: "C0CAPACITY", user: "U0PERSON", text: "You may not." };
    expect(await interactions.send(messageOf(note), notAborted)).toMatchObject({ kind: "retry", code: "http_5xx" });
  });

  test("accepts no message that everybody would see", () => {
    expect(interactions.validate?.(messageOf(reply))).toMatchObject({ ok: false });
  });
});
