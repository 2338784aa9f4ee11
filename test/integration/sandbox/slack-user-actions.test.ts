// oxlint-disable unicorn/require-post-message-target-origin -- this is Slack's method, not the browser's
import { createHmac } from "node:crypto";
import { LogLevel, WebClient, type View } from "@slack/web-api";
import { describe, expect, test } from "vitest";
import { signature } from "../../../src/sandbox/slack/outgoing.ts";
import { secrets, setStage, type Heard, type Stage } from "./harness.ts";

const channel = "C0CAPACITY";
const riley = "URILEY01";
/** A fixed clock: no trigger expires because a machine is slow. */
const still = { now: () => 1_794_736_800_000 };
const patience = (): AbortSignal => AbortSignal.timeout(10_000);

function client(stage: Stage): WebClient {
  const slackApiUrl = `${stage.sandbox.url}/slack/api/`;
  return new WebClient("xoxb-sandbox", { slackApiUrl, retryConfig: { retries: 0 }, logLevel: LogLevel.ERROR });
}

/** The form that arrived, after its signature was computed again from the same bytes. */
function form(heard: Heard | undefined): URLSearchParams {
  expect(heard?.path).toBe("/webhooks/slack");
  expect(heard?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  const at = String(heard?.headers["x-slack-request-timestamp"]);
  const expected = createHmac("sha256", secrets.slackSigningSecret).update(`v0:${at}:${heard?.body}`).digest("hex");
  expect(heard?.headers["x-slack-signature"]).toBe(`v0=${expected}`);
  return new URLSearchParams(heard?.body);
}

function payload(heard: Heard | undefined): Record<string, unknown> {
  return JSON.parse(form(heard).get("payload") ?? "") as Record<string, unknown>;
}

const text = (words: string) => ({ type: "plain_text", text: words }) as const;
const modal: View = {
  type: "modal",
  callback_id: "reject",
  title: text("Reject"),
  submit: text("Send"),
  private_metadata: "CR-2026-000001",
  blocks: [
    {
      type: "input",
      block_id: "reason",
      label: text("Reason"),
      element: { type: "plain_text_input", action_id: "reason_text", max_length: 20 },
    },
    {
      type: "input",
      block_id: "count",
      label: text("Count"),
      element: { type: "number_input", action_id: "n", is_decimal_allowed: false, min_value: "1" },
    },
    {
      type: "input",
      block_id: "size",
      optional: true,
      label: text("Size"),
      element: { type: "static_select", action_id: "s", options: [{ text: text("32XL"), value: "32XL" }] },
    },
    {
      type: "input",
      block_id: "day",
      optional: true,
      label: text("Day"),
      element: { type: "datepicker", action_id: "d" },
    },
  ],
};
const filled = { reason: "too small", count: "4", size: "32XL", day: "2027-03-01" };

/** Presses a button and opens a modal with its trigger, as an app does. */
async function openModal(stage: Stage, view: View = modal): Promise<string> {
  await stage.sandbox.slack.command({ user: riley });
  const trigger = form(stage.ear.heard.at(-1)).get("trigger_id") ?? "";
  const opened = await client(stage).views.open({ trigger_id: trigger, view });
  return opened.view?.id ?? "";
}

test("the signature of Slack's published example is reproduced", () => {
  const body =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
  expect(signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body)).toBe(
    "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  );
});

describe("a slash command", () => {
  test("that the app does not have is answered by Slack itself and sent to nobody", async () => {
    await using stage = await setStage(still);
    const result = await stage.sandbox.slack.command({ user: riley, command: "/kapacity", text: "list" });
    expect(result).toEqual({ kind: "unknown_command" });
    expect(stage.ear.heard).toEqual([]);
    const page = await fetch(`${stage.sandbox.url}/slack?as=${riley}`);
    expect(await page.text()).toContain("/kapacity is not a valid command.");
  });

  test("arrives as Slack's form, whatever was typed", async () => {
    await using stage = await setStage();
    const typed = "create 32XL x4 a+b=c %2B & ü 💧";
    await stage.sandbox.slack.command({ user: riley, text: typed });
    const fields = Object.fromEntries(form(stage.ear.heard[0]));
    expect(fields).toMatchObject({
      command: "/capacity",
      text: typed,
      user_id: riley,
      user_name: "riley",
      channel_id: channel,
      channel_name: "capacity-requests",
      team_id: "T0SANDBOX",
      is_enterprise_install: "false",
    });
    expect(fields["trigger_id"]).toMatch(/^\d+\.\d+\.[0-9a-f]+$/);
  });

  test("the app's answer is shown: to one person, or to the channel", async () => {
    await using stage = await setStage();
    const { slack } = stage.sandbox;
    stage.ear.replies.push({ body: "plain words" }, { body: JSON.stringify({ text: "for you" }) });
    stage.ear.replies.push({ body: JSON.stringify({ response_type: "in_channel", text: "for all" }) }, { body: "" });
    for (let n = 0; n < 4; n += 1) await slack.command({ user: riley, text: "list" });
    expect(slack.ephemerals(riley).map((note) => note.text)).toEqual(["plain words", "for you"]);
    expect(slack.messages(channel).map((message) => message.text)).toEqual(["for all"]);
  });

  test("a failure of the app is shown to the person with Slack's code for it", async () => {
    await using stage = await setStage();
    stage.ear.replies.push({ status: 500 }, { status: 401 }, { silent: true });
    const errors: unknown[] = [];
    for (let n = 0; n < 3; n += 1) {
      const result = await stage.sandbox.slack.command({ user: riley });
      errors.push(result.kind === "failed" ? result.error : result.kind);
    }
    expect(errors).toEqual(["http_service_error", "http_client_error", "operation_timeout"]);
    expect(stage.sandbox.slack.ephemerals(riley).every(({ from }) => from === "slackbot")).toBe(true);
  });
});

describe("a button", () => {
  const blocks = [
    {
      type: "actions",
      block_id: "commercial_buttons",
      elements: [
        { type: "button", action_id: "commercial_approve", value: "CR-1", style: "primary", text: text("Approve") },
      ],
    },
  ] as const;

  test("sends who, where, which and the whole message", async () => {
    await using stage = await setStage();
    const { ts = "" } = await client(stage).chat.postMessage({ channel, text: "root", blocks: [...blocks] });
    const result = await stage.sandbox.slack.click({ user: "UCASEY01", channel, ts, actionId: "commercial_approve" });
    expect(result.kind).toBe("acknowledged");
    expect(payload(stage.ear.heard[0])).toMatchObject({
      type: "block_actions",
      user: { id: "UCASEY01", name: "casey", team_id: "T0SANDBOX" },
      team: { id: "T0SANDBOX" },
      enterprise: null,
      container: { type: "message", message_ts: ts, channel_id: channel, is_ephemeral: false },
      channel: { id: channel },
      message: { ts, text: "root" },
      actions: [{ action_id: "commercial_approve", block_id: "commercial_buttons", value: "CR-1", type: "button" }],
    });
  });

  test("that was removed cannot be pressed", async () => {
    await using stage = await setStage();
    const { ts = "" } = await client(stage).chat.postMessage({ channel, text: "root", blocks: [...blocks] });
    await client(stage).chat.update({ channel, ts, text: "root", blocks: [] });
    const press = stage.sandbox.slack.click({ user: "UCASEY01", channel, ts, actionId: "commercial_approve" });
    await expect(press).rejects.toMatchObject({ code: "not_found" });
    expect(stage.ear.heard).toEqual([]);
  });

  test("has a response_url that answers five times and no more", async () => {
    await using stage = await setStage();
    const { ts = "" } = await client(stage).chat.postMessage({ channel, text: "root", blocks: [...blocks] });
    await stage.sandbox.slack.click({ user: "UCASEY01", channel, ts, actionId: "commercial_approve" });
    const url = String(payload(stage.ear.heard[0])["response_url"]);
    const answer = (body: unknown): Promise<Response> => fetch(url, { method: "POST", body: JSON.stringify(body) });
    expect(await (await answer({ text: "only you" })).text()).toBe("ok");
    await answer({ text: "for all", response_type: "in_channel" });
    await answer({ text: "replaced", replace_original: true });
    await answer({ text: "more" });
    await answer({ text: "more" });
    const sixth = await answer({ text: "too many" });
    expect([sixth.status, await sixth.json()]).toEqual([404, { ok: false, error: "used_url" }]);
    expect(stage.sandbox.slack.messages(channel).map((message) => message.text)).toEqual(["replaced", "for all"]);
    expect(stage.sandbox.slack.ephemerals("UCASEY01").map((note) => note.text)).toEqual(["only you", "more", "more"]);
  });
});

describe("a modal", () => {
  test("opens by a trigger once, and not after three seconds", async () => {
    let now = Date.now();
    await using stage = await setStage({ now: () => now });
    const slack = client(stage);
    await stage.sandbox.slack.command({ user: riley });
    const trigger = form(stage.ear.heard[0]).get("trigger_id") ?? "";
    await slack.views.open({ trigger_id: trigger, view: modal });
    await expect(slack.views.open({ trigger_id: trigger, view: modal })).rejects.toThrow("exchanged_trigger_id");
    await stage.sandbox.slack.command({ user: riley });
    const late = form(stage.ear.heard[1]).get("trigger_id") ?? "";
    now += 3_001;
    await expect(slack.views.open({ trigger_id: late, view: modal })).rejects.toThrow("expired_trigger_id");
    await expect(slack.views.open({ trigger_id: "1.2.x", view: modal })).rejects.toThrow("invalid_trigger_id");
    expect(stage.sandbox.slack.openViews(riley)).toHaveLength(1);
  });

  test("is updated by its id while it is open, guarded by its hash, and pushed up to three deep", async () => {
    await using stage = await setStage(still);
    const slack = client(stage);
    const id = await openModal(stage);
    const updated = await slack.views.update({ view_id: id, view: { ...modal, title: text("Loaded") } });
    expect(stage.sandbox.slack.openViews(riley)[0]?.view.title.text).toBe("Loaded");
    await expect(slack.views.update({ view_id: id, hash: "old", view: modal })).rejects.toThrow("hash_conflict");
    await slack.views.update({ view_id: id, hash: updated.view?.hash ?? "", view: modal });
    await expect(slack.views.update({ view_id: "V9", view: modal })).rejects.toThrow("not_found");
    await expect(slack.views.update({ view_id: id, view: { ...modal, title: text("x".repeat(25)) } })).rejects.toThrow(
      "invalid_arguments",
    );
    for (const outcome of ["pushed", "pushed", "push_limit_reached"]) {
      await stage.sandbox.slack.command({ user: riley });
      const trigger = form(stage.ear.heard.at(-1)).get("trigger_id") ?? "";
      const push = slack.views.push({ trigger_id: trigger, view: modal });
      if (outcome === "pushed") await push;
      else await expect(push).rejects.toThrow(outcome);
    }
    expect(stage.sandbox.slack.openViews(riley)).toHaveLength(3);
  });

  test("checks its fields before it sends anything", async () => {
    await using stage = await setStage(still);
    const viewId = await openModal(stage);
    const before = stage.ear.heard.length;
    const values = { reason: "x".repeat(21), count: "0", size: "64XL", day: "soon" };
    const result = await stage.sandbox.slack.submitView({ user: riley, viewId, values });
    expect(result.kind === "errors" ? Object.keys(result.errors) : []).toEqual(["reason", "count", "size", "day"]);
    expect(await stage.sandbox.slack.submitView({ user: riley, viewId, values: {} })).toMatchObject({
      kind: "errors",
      errors: { reason: "Please complete this required field.", count: "Please complete this required field." },
    });
    expect(stage.ear.heard).toHaveLength(before);
  });

  test("sends its values and its private metadata, and closes when the app answers nothing", async () => {
    await using stage = await setStage(still);
    const viewId = await openModal(stage);
    expect(await stage.sandbox.slack.submitView({ user: riley, viewId, values: filled })).toEqual({ kind: "closed" });
    expect(payload(stage.ear.heard.at(-1))).toMatchObject({
      type: "view_submission",
      user: { id: riley },
      view: {
        id: viewId,
        callback_id: "reject",
        private_metadata: "CR-2026-000001",
        state: {
          values: {
            reason: { reason_text: { type: "plain_text_input", value: "too small" } },
            count: { n: { type: "number_input", value: "4" } },
            size: { s: { type: "static_select", selected_option: { value: "32XL" } } },
            day: { d: { type: "datepicker", selected_date: "2027-03-01" } },
          },
        },
      },
    });
    expect(stage.sandbox.slack.openViews(riley)).toEqual([]);
  });

  test("stays open with the app's errors, and is updated, pushed and cleared by the app's answers", async () => {
    await using stage = await setStage(still);
    const viewId = await openModal(stage);
    const submit = (id = viewId) => stage.sandbox.slack.submitView({ user: riley, viewId: id, values: filled });
    stage.ear.replies.push({ body: JSON.stringify({ response_action: "errors", errors: { reason: "Say more." } }) });
    expect(await submit()).toEqual({ kind: "errors", errors: { reason: "Say more." } });
    stage.ear.replies.push({ body: JSON.stringify({ response_action: "update", view: modal }) });
    expect(await submit()).toEqual({ kind: "updated" });
    stage.ear.replies.push({ body: JSON.stringify({ response_action: "push", view: modal }) });
    const pushed = await submit();
    expect(stage.sandbox.slack.openViews(riley)).toHaveLength(2);
    stage.ear.replies.push({ body: "<html>" });
    expect(await submit(pushed.kind === "pushed" ? pushed.viewId : "")).toMatchObject({
      error: "invalid_app_response",
    });
    stage.ear.replies.push({ body: JSON.stringify({ response_action: "clear" }) });
    expect(await submit()).toEqual({ kind: "closed" });
    expect(stage.sandbox.slack.openViews(riley)).toEqual([]);
  });

  test("reports that it was closed when it was asked to", async () => {
    await using stage = await setStage(still);
    const viewId = await openModal(stage, { ...modal, notify_on_close: true });
    await stage.sandbox.slack.closeView({ user: riley, viewId });
    expect(payload(stage.ear.heard.at(-1))).toMatchObject({
      type: "view_closed",
      view: { id: viewId },
      is_cleared: false,
    });
  });
});

describe("an event", () => {
  test("that is not acknowledged comes again under the same id, and says so", async () => {
    await using stage = await setStage();
    stage.ear.replies.push({ status: 500 });
    await stage.sandbox.slack.say({ user: riley, text: "<@U0HEADROOM> hello" });
    await stage.ear.heardAtLeast(2, patience());
    const [first, second] = stage.ear.heard;
    expect(first?.headers["x-slack-retry-num"]).toBeUndefined();
    expect(second?.headers["x-slack-retry-num"]).toBe("1");
    expect(second?.body).toBe(first?.body);
    expect(JSON.parse(first?.body ?? "")).toMatchObject({
      type: "event_callback",
      event: { type: "app_mention", user: riley },
    });
  });
});

test("without Headroom an action says what is missing and does nothing", async () => {
  await using stage = await setStage();
  const { startSandbox } = await import("../../../src/sandbox/sandbox.ts");
  const alone = await startSandbox({ sampleData: stage.sandbox.sampleData, secrets });
  await expect(alone.slack.command({ user: riley })).rejects.toMatchObject({ code: "not_configured" });
  await alone.close();
});
