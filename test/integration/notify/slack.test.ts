/**
 * Messages in Slack: from the bot, which searches for them when they are in doubt; or through a person's own webhook, whose address is
 * sealed.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { codeOf, oneOf, rowsOf } from "../capacity/harness.ts";
import { memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { testSecretKey } from "../http/harness.ts";
import { startChannels } from "./channels.ts";

const stage = await startChannels("smtp");
const db = stage.workflow.superuser;
const webhook = (person: string): string => `https://hooks.slack.com/services/T0SANDBOX/${person}/XyZsecretXyZsecret12`;

beforeAll(async () => {
  // People whom the sandbox's Slack knows; its limit of one message a second is tested elsewhere.
  await rowsOf(
    db,
    "update directory.members set slack_user_id = 'URILEY01' where workspace_id = 'acme' and id = 'rita'",
  );
  await rowsOf(db, "update directory.members set slack_user_id = null where workspace_id = 'acme' and id = 'tim'");
  for (const destination of ["slack:URILEY01", "slack:webhook:acme/rita", "slack:webhook:acme/tim"]) {
    await rowsOf(db, "select outbox.limit_destination($1, 1)", [destination]);
  }
  // A row in doubt is looked up after a while, which a test need not wait for.
  await rowsOf(db, "update outbox.streams set backoff_base_ms = 100 where name = 'people'");
});

const messages = (text: string) => stage.sandbox.slack.messages("URILEY01").filter((each) => each.text === text);

function set(session: Session, ...given: (string | null)[]): Promise<unknown> {
  return overHttp(stage.workflow.db, session, async (client) => {
    await client.query("select set_config('headroom.secret_key', $1, true)", [testSecretKey]);
    const places = given.map((_, at) => `$${at + 1}`).join(", ");
    const { rows } = await client.query<{ set: boolean }>(`select public.set_slack_webhook(${places}) as set`, given);
    return rows[0]?.set;
  });
}

describe("a direct message from the bot", () => {
  test("whose answer is lost is found by its metadata, and is not sent twice", async () => {
    stage.sandbox.faults.add({ provider: "slack", kind: "dropAfterAccept", method: "chat.postMessage", times: 1 });
    const title = randomUUID();
    const id = await stage.tell({ channels: ["slack"], title, url: "https://capacity.example/1" });
    await stage.reaches(id, "sent", "slack");
    expect(messages(title)).toHaveLength(1);
    expect(messages(title)[0]?.metadata).toMatchObject({ event_type: "headroom_outbox" });
    expect(JSON.stringify(messages(title)[0]?.blocks)).toContain("https://capacity.example/1");
  });

  test.each<[string, string, string]>([
    ["mentions of everybody", "<!channel> <!here> <@U0ADA>", "&lt;!channel&gt; &lt;!here&gt; &lt;@U0ADA&gt;"],
    ["a link with different text", "<https://evil.example|View>", "&lt;https://evil.example|View&gt;"],
  ])("renders %s harmless", async (_what, text, wanted) => {
    const payload = await stage.payloadOf(await stage.tell({ channels: ["slack"], title: text, body: text }), "slack");
    expect(payload).toMatchObject({ text: wanted, channel: "URILEY01" });
    expect(JSON.stringify(payload)).not.toContain("<!");
  });

  test("of fifty long notifications is as few messages as Slack's limits allow", async () => {
    const about = randomUUID();
    const told: string[] = [];
    for (let n = 0; n < 50; n += 1) {
      const title = `${n} ${"t".repeat(190)}`;
      const url = "https://capacity.example/1";
      told.push(await stage.tell({ channels: ["slack"], about, title, body: "&".repeat(19_000), url }));
    }
    await stage.release();
    for (const [n, id] of told.entries()) {
      await stage.reaches(id, "sent", "slack");
      const { blocks } = (await stage.payloadOf(id, "slack")) as { blocks: unknown[] };
      expect(blocks.length).toBeLessThanOrEqual(50);
      expect(JSON.stringify(blocks)).toContain(`*${n} ttt`);
      expect(JSON.stringify(blocks)).toContain("All of it is in your inbox.");
      expect(JSON.stringify(blocks.at(-1))).toContain("<https://capacity.example/eu/preferences|Preferences>");
    }
  });
});

describe("a person's own webhook", () => {
  test("gets their messages instead of the bot, and its address is in no row", async () => {
    expect(await set(memberSession("rita"), webhook("URILEY01"))).toBe(true);
    const title = randomUUID();
    const id = await stage.tell({ channels: ["slack"], title });
    await stage.reaches(id, "sent", "slack");
    expect(messages(title)).toMatchObject([{ metadata: undefined }]);
    const rows =
      "select string_agg(m.payload::text || coalesce(m.instruction_id, ''), '') as all from outbox.payloads m";
    expect(JSON.stringify(await oneOf(db, rows))).not.toContain("XyZsecret");
    expect(JSON.stringify(await rowsOf(db, "select * from notify.people"))).not.toContain("XyZsecret");
    expect(await set(memberSession("rita"), null)).toBe(false);
    expect(await stage.payloadOf(await stage.tell({ channels: ["slack"] }), "slack")).toMatchObject({
      channel: "URILEY01",
    });
    expect(await rowsOf(db, "select from headroom.boxes where name like '%webhook%'")).toEqual([]);
  });

  test("reaches a person whom Slack's bot does not know, by `direct`", async () => {
    await set(memberSession("ada"), webhook("URILEY01"), "tim");
    const title = randomUUID();
    const id = await stage.tell({ user: "tim", channels: ["direct"], title });
    await stage.reaches(id, "sent", "slack");
    expect(messages(title)).toHaveLength(1);
  });

  test("that is gone is deleted, and its messages are sent another way", async () => {
    await set(memberSession("tim"), webhook("UNOBODY1"));
    const id = await stage.tell({ user: "tim", channels: ["slack"] });
    await stage.reaches(id, "given_up", "slack");
    await rowsOf(db, "select * from notify.release()");
    expect(await stage.toldBecause("webhook-gone")).toEqual([
      { recipient: "tim", title: "Your Slack webhook no longer works" },
    ]);
    // The bot does not know Tim, so it is a mail; it knows Rita.
    await stage.reaches(id, "sent", "email");
    await set(memberSession("rita"), webhook("UNOBODY1"));
    const title = randomUUID();
    const told = await stage.tell({ channels: ["slack"], title });
    await stage.reaches(told, "given_up", "slack");
    await rowsOf(db, "select * from notify.release()");
    await stage.reaches(told, "sent", "slack");
    expect(messages(title)).toHaveLength(1);
  });

  test.each<[string, string]>([
    ["another host", "https://hooks.example.com/services/T1/B1/abc"],
    ["another host with the same beginning", "https://hooks.slack.com.evil.example/services/T1/B1/abc"],
    ["a user name before another host", "https://hooks.slack.com@evil.example/services/T1/B1/abc"],
    ["http", "http://hooks.slack.com/services/T1/B1/abc"],
    ["a port", "https://hooks.slack.com:8443/services/T1/B1/abc"],
    ["a path that is not a webhook's", "https://hooks.slack.com/workflows/T1/A1/1/abc"],
    ["a query", "https://hooks.slack.com/services/T1/B1/abc?x=1"],
    ["a way up", "https://hooks.slack.com/services/../B1/abc"],
    ["a line break", "https://hooks.slack.com/services/T1/B1/abc\nHost: evil.example"],
    ["nothing", ""],
    ["this machine", "http://127.0.0.1/services/T1/B1/abc"],
  ])("is refused at %s, and nothing is stored", async (_what, address) => {
    expect(await codeOf(set(memberSession("cora"), address))).toBe("invalid_input");
    expect(await rowsOf(db, "select from notify.people where member_id = 'cora'")).toEqual([]);
  });

  test.each<[string, Session, (string | null)[], string]>([
    ["somebody else's", memberSession("cora"), [webhook("X1"), "rita"], "not_allowed"],
    ["another workspace's", memberSession("ada"), [webhook("X1"), "glen", "globex"], "not_found"],
    ["nobody's", memberSession("ada"), [webhook("X1"), "nobody"], "not_found"],
    ["a machine's without a name", service, [webhook("X1")], "invalid_input"],
  ])("is not set where it is %s", async (_what, session, given, code) => {
    expect(await codeOf(set(session, ...given))).toBe(code);
  });

  test("is opened only for our own message, and is deleted with its owner", async () => {
    await set(service, webhook("URILEY01"), "tess", "acme");
    const executor = await stage.workflow.db.as("headroom_executor").connect();
    expect(await codeOf(executor.query("select notify.slack_webhook_for_relay($1)", [randomUUID()]))).toBe("not_found");
    await executor.end();
    await rowsOf(db, "select directory.remove_member('acme', 'tess')");
    expect(await rowsOf(db, "select from headroom.boxes where name like '%acme/tess'")).toEqual([]);
  });
});
