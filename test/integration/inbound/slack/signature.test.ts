/**
 * Only a fresh signature of Slack's over the exact bytes is accepted. A refused request has written nothing.
 */
import { describe, expect, test } from "vitest";
import { codeOf, oneOf } from "../../capacity/harness.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { commandBody, setSecret, sign, type Signed, startSlack } from "./slack.ts";

/** The example that Slack publishes for its scheme, word for word. */
const published = {
  secret: "8f742231b10e8888abcd99yyyzzz85a5",
  timestamp: "1531420618",
  body:
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
    "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
    "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
  signature: "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
};

const good = (): Signed => sign(commandBody("help"));
const withHeaders = (signed: Signed, headers: Record<string, string | undefined>): Signed => ({
  body: signed.body,
  headers: JSON.parse(JSON.stringify({ ...signed.headers, ...headers })) as Record<string, string>,
});

describe.each(POSTGRES_VERSIONS)("the signature of Slack on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { superuser } = slack.workflow;

  test("the published example is what the database computes", async () => {
    // A separate session: the pool's first one is older than the key.
    const client = await slack.workflow.db.superuser.connect();
    const { right, wrong } = await oneOf<{ right: boolean; wrong: boolean }>(
      client,
      `select inbound.signed_by('SLACK_SIGNING_SECRET', convert_to($1, 'UTF8'), decode($2, 'hex')) as right,
              inbound.signed_by('SLACK_SIGNING_SECRET', convert_to($1 || ' ', 'UTF8'), decode($2, 'hex')) as wrong`,
      [`v0:${published.timestamp}:${published.body}`, published.signature.slice(3)],
    );
    await client.end();
    expect([right, wrong]).toEqual([true, false]);
    expect(sign(published.body, { at: Number(published.timestamp) }).headers["x-slack-signature"]).toBe(
      published.signature,
    );
  });

  test("the published example is refused today: it was signed years ago", async () => {
    const signed = sign(published.body, { at: Number(published.timestamp) });
    expect(await codeOf(slack.send(signed))).toBe("bad_signature");
  });

  const bad: [string, () => Signed][] = [
    ["signed with another secret", () => sign(commandBody("help"), { secret: "0".repeat(32) })],
    ["signed six minutes ago", () => sign(commandBody("help"), { at: Math.floor(Date.now() / 1000) - 360 })],
    ["signed six minutes ahead", () => sign(commandBody("help"), { at: Math.floor(Date.now() / 1000) + 360 })],
    ["truncated", () => ({ ...good(), body: good().body.slice(0, -1) })],
    [
      "decoded and encoded again",
      () => {
        const signed = sign(commandBody("help").replace("%2Fcapacity", "%2fcapacity"));
        return { ...signed, body: new URLSearchParams(signed.body).toString() };
      },
    ],
    [
      "with a space for a plus",
      () => ({ ...sign("text=a+b&command=%2Fcapacity"), body: "text=a b&command=%2Fcapacity" }),
    ],
    ["without a signature", () => withHeaders(good(), { "x-slack-signature": undefined })],
    ["without a timestamp", () => withHeaders(good(), { "x-slack-request-timestamp": undefined })],
    ["with a timestamp that is no number", () => withHeaders(good(), { "x-slack-request-timestamp": "now" })],
    ["with a timestamp beyond all numbers", () => withHeaders(good(), { "x-slack-request-timestamp": "9".repeat(40) })],
    ["with a signature that is no hash", () => withHeaders(good(), { "x-slack-signature": "v0=zz" })],
    ["with a signature of another version", () => withHeaders(good(), { "x-slack-signature": `v1=${"a".repeat(64)}` })],
  ];

  test.each(bad)("a request %s is refused, and nothing is written", async (_what, make) => {
    const before = await slack.written();
    expect(await codeOf(slack.send(make()))).toBe("bad_signature");
    expect(await slack.written()).toEqual(before);
  });

  test("the receiver refuses without the pre-request check, too", async () => {
    const before = await slack.written();
    for (const [, make] of bad) {
      const client = await slack.begin();
      const { body, headers } = make();
      await client.query("select set_config('request.headers', $1, true)", [JSON.stringify(headers)]);
      expect(await codeOf(client.query("select public.handle_slack_webhook($1)", [body]))).toBe("bad_signature");
      await client.end();
    }
    expect(await slack.written()).toEqual(before);
  });

  test("the check needs neither a secret nor a lock", async () => {
    const client = await slack.begin();
    await client.query("set local headroom.secret_key = ''");
    await client.query(
      "select set_config('request.headers', $1, true), set_config('request.path', '/rpc/handle_slack_webhook', true)",
      [JSON.stringify(good().headers)],
    );
    await client.query("select public.check_request()");
    const { locks } = await oneOf<{ locks: number }>(
      superuser,
      `select count(*)::integer as locks from pg_locks l where l.pid = $1 and l.locktype = 'relation'
          and l.relation in (select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname in ('directory', 'capacity', 'inbound'))`,
      [client.pid],
    );
    expect(locks).toBe(0);
    await client.end();
  });

  test.each(["/rpc/get_capacity_request", "/capacity_requests", "", "/rpc/handle_slack_webhook/x"])(
    "the check lets the path %j pass, whatever its headers are",
    async (path) => {
      const client = await slack.begin();
      await client.query(
        "select set_config('request.headers', 'garbage', true), set_config('request.path', $1, true)",
        [path],
      );
      await client.query("select public.check_request()");
      await client.end();
    },
  );

  test.each(["garbage", "[]", "null", ""])(
    "headers that read %j are a request without a signature",
    async (headers) => {
      const client = await slack.begin();
      await client.query(
        "select set_config('request.headers', $1, true), set_config('request.path', '/rpc/handle_slack_webhook', true)",
        [headers],
      );
      expect(await codeOf(client.query("select public.check_request()"))).toBe("bad_signature");
      await client.end();
    },
  );

  test("while the secret is being replaced, both are valid; afterwards only the new one", async () => {
    const next = "n".repeat(32);
    await setSecret(slack.workflow, "SLACK_SIGNING_SECRET", next);
    expect(await codeOf(slack.command("help"))).toBe("bad_signature");
    await setSecret(slack.workflow, "SLACK_SIGNING_SECRET_PREVIOUS", published.secret);
    expect((await slack.command("help")).text).toContain("/capacity");
    expect((await slack.send(sign(commandBody("help"), { secret: next }))).text).toContain("/capacity");
    await setSecret(slack.workflow, "SLACK_SIGNING_SECRET_PREVIOUS", "another one that nobody signs with");
    expect(await codeOf(slack.command("help"))).toBe("bad_signature");
    await setSecret(slack.workflow, "SLACK_SIGNING_SECRET", published.secret);
  });

  test("a secret that is not set up is reported as missing, and nothing else is revealed", async () => {
    const client = await slack.begin();
    await client.query("set local headroom.secret_key = ''");
    expect(await codeOf(slack.sendIn(client, good()))).toBe("not_configured");
    await client.end();
  });
});
