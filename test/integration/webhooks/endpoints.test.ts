/** Endpoints in the database: their fields, how their secrets are stored and rotated, and which events their topics match. */
import fc from "fast-check";
import type { ClientBase } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { putEndpoint, listEndpoints, rotateEndpointSecret } from "../../../src/webhooks/endpoints.ts";
import { checkUrl, createAddressPolicy } from "../../../src/rails/webhook/ssrf.ts";
import { createTestDatabase, POSTGRES_VERSIONS, type TestClient } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf } from "../outbox/queries.ts";

const key = "the key of these tests, which has more than 32 bytes";

interface ForRelay {
  readonly id: string;
  readonly version: number;
  readonly enabled: boolean;
  readonly disabled_code: string | null;
  readonly secrets: string[] | null;
  readonly headers: Record<string, string> | null;
  readonly expires_in_ms: number | null;
}

async function makeTwins(client: ClientBase): Promise<{ created: boolean }[]> {
  await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
  return rowsOf(client, `select created from webhooks.put_endpoint('twins', '{"url": "https://example.com/"}')`);
}

const make = (client: ClientBase, name: string, workspaceId?: string): Promise<unknown> =>
  putEndpoint(client, name, { url: "https://example.com/hook" }, { key, workspaceId });

describe.each(POSTGRES_VERSIONS)("endpoints on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  let control: TestClient;
  beforeAll(async () => {
    control = await db.as("headroom_control").connect();
  });
  afterAll(() => control.end());

  const superuser = db.superuser.pool;
  const forRelay = async (name: string, secretKey: string | null = key): Promise<ForRelay | undefined> => {
    const [endpoint] = await rowsOf<{ id: string }>(superuser, "select id from webhooks.endpoints where name = $1", [
      name,
    ]);
    const client = await db.as("headroom_executor").pool.connect();
    try {
      await client.query("begin");
      if (secretKey !== null) await client.query("select set_config('headroom.secret_key', $1, true)", [secretKey]);
      const rows = await rowsOf<ForRelay>(client, "select * from webhooks.endpoint_for_relay($1)", [endpoint?.id]);
      await client.query("commit");
      return rows[0];
    } finally {
      client.release();
    }
  };
  const gone = ({ id, version: v }: ForRelay): Promise<{ gone: boolean }> =>
    oneOf(db.as("headroom_executor").pool, "select webhooks.endpoint_gone($1, $2) as gone", [id, v]);
  const add = (name: string, changes: object = {}) =>
    putEndpoint(control, name, { url: "https://example.com/hook", ...changes }, { key });

  test("a new endpoint gets a secret, which is shown once and is what relays sign with", async () => {
    const { created, secret } = await add("first", { topics: ["transfers.*"] });
    expect(created).toBe(true);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await forRelay("first")).toMatchObject({ enabled: true, secrets: [secret], headers: null });
    expect(await add("first", { description: "again" })).toEqual({ name: "first", created: false, secret: null });
    const [listed] = await listEndpoints(control, { key });
    expect(listed).toMatchObject({
      name: "first",
      topics: ["transfers.*"],
      description: "again",
      secrets: 1,
      readable: true,
      enabled: true,
    });
    expect(JSON.stringify(listed)).not.toContain("whsec_");
  });

  test("a secret and a header are nowhere in clear text, and open under no other key", async () => {
    const { secret } = await add("sealed", { headers: { Authorization: "Bearer t0ken-of-the-receiver" } });
    const all = await rowsOf<{ row: string }>(
      superuser,
      `select e::text || k::text || b::text as row from webhooks.endpoints e join webhooks.endpoint_secrets k on k.endpoint_id = e.id
         join headroom.boxes b on b.name = webhooks.box_name(k.secret_id) where e.name = 'sealed'`,
    );
    expect(all).toHaveLength(2);
    for (const needle of [secret!, secret!.slice(6), "t0ken"]) {
      expect(
        all.filter(({ row }) => row.includes(needle) || row.includes(Buffer.from(needle).toString("hex"))),
      ).toEqual([]);
    }
    expect(await forRelay("sealed")).toMatchObject({
      secrets: [secret],
      headers: { Authorization: "Bearer t0ken-of-the-receiver" },
    });
    expect(await forRelay("sealed", "another key, which also has more than 32 bytes")).toMatchObject({
      secrets: null,
      headers: null,
    });
    expect(await forRelay("sealed", null)).toMatchObject({ secrets: null });
    expect((await listEndpoints(control)).find(({ name }) => name === "sealed")).toMatchObject({
      readable: false,
      headerNames: ["authorization"],
    });
    await add("sealed", { headers: null });
    expect(await forRelay("sealed")).toMatchObject({ headers: null });
  });

  test("the box of one secret does not open in place of another", async () => {
    await add("box-a");
    await add("box-b");
    await rowsOf(
      superuser,
      `update headroom.boxes set box = (select box from headroom.boxes where label like 'endpoint box-a %') where label like 'endpoint box-b %'`,
    );
    expect(await forRelay("box-b")).toMatchObject({ secrets: null });
  });

  test("without a key nothing is made, and the message says what to set", async () => {
    const refusal = await putEndpoint(control, "keyless", { url: "https://example.com/" }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ code: "not_configured", hint: expect.stringContaining("HEADROOM_SECRET_KEY") });
    expect(await rowsOf(superuser, "select from webhooks.endpoints where name = 'keyless'")).toEqual([]);
  });

  test("a rotation signs with both, newest first, until the old one expires", async () => {
    const { secret } = await add("rotated");
    const second = await rotateEndpointSecret(control, "rotated", { key });
    const between = await forRelay("rotated");
    expect(between?.secrets).toEqual([second, secret]);
    expect(between?.expires_in_ms).toBeGreaterThan(23 * 3_600_000);
    await rowsOf(
      superuser,
      "update webhooks.endpoint_secrets set expires_at = now() where endpoint_id = (select id from webhooks.endpoints where name = 'rotated') and expires_at is not null",
    );
    expect(await forRelay("rotated")).toMatchObject({ secrets: [second], expires_in_ms: null });
    await rowsOf(superuser, "select outbox.gc()");
    expect(
      await rowsOf(
        superuser,
        "select from webhooks.endpoint_secrets where endpoint_id = (select id from webhooks.endpoints where name = 'rotated')",
      ),
    ).toHaveLength(1);
  });

  test("a leaked secret is ended immediately by a window of zero, and a new one may be supplied", async () => {
    await add("leaked");
    const brought = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    expect(await rotateEndpointSecret(control, "leaked", { key, windowHours: 0, secret: brought })).toBe(brought);
    expect(await forRelay("leaked")).toMatchObject({ secrets: [brought] });
    expect(
      await rowsOf(
        superuser,
        "select from webhooks.endpoint_secrets where endpoint_id = (select id from webhooks.endpoints where name = 'leaked')",
      ),
    ).toHaveLength(1);
  });

  test("at most four secrets sign at the same time", async () => {
    await add("many");
    for (let count = 0; count < 3; count += 1) await rotateEndpointSecret(control, "many", { key });
    const refusal = await rotateEndpointSecret(control, "many", { key }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "conflict", hint: expect.stringContaining("window of zero") });
    expect((await forRelay("many"))?.secrets).toHaveLength(4);
    await rotateEndpointSecret(control, "many", { key, windowHours: 0 });
    expect((await forRelay("many"))?.secrets).toHaveLength(1);
  });

  test.each([
    "whsec_short",
    "whsec_!!!!",
    "plain-text-secret-of-some-length-0123456789",
    `whsec_${Buffer.alloc(23).toString("base64")}`,
    `whsec_${Buffer.alloc(65).toString("base64")}`,
  ])("the secret %s is refused", async (secret) => {
    const refused = await putEndpoint(control, "bad-secret", { url: "https://example.com/" }, { key, secret }).catch(
      (error: unknown) => error,
    );
    expect(refused).toMatchObject({ code: "invalid_input" });
  });

  test.each([
    "http://example.com/",
    "ftp://example.com/",
    "https://",
    "https:///path",
    "https://user:password@example.com/",
    "https://user@example.com/",
    "https://example.com@10.0.0.1/",
    "https://example.com\\@10.0.0.1/",
    "https://localhost/",
    "https://db.internal/",
    "https://printer.local./",
    "https://intranet/",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://10.1.2.3:8443/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://192.168.0.1./",
    "https://[::1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[::ffff:10.0.0.1]/",
    "https://[2002:7f00:1::]/",
    "https://[64:ff9b::7f00:1]/",
    "https://168.63.129.16/",
    "https://exa mple.com/",
    "https://example.com/#fragment",
    "https://例え.jp/",
    "",
  ])("the URL %s is refused, and nothing is written", async (url) => {
    const refused = await putEndpoint(control, "bad-url", { url }, { key }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "invalid_input", httpStatus: 400 });
    expect(await rowsOf(superuser, "select from webhooks.endpoints where name = 'bad-url'")).toEqual([]);
  });

  test.each([
    "https://example.com",
    "https://hooks.example.com:8443/a/b?c=d",
    "https://8.8.8.8/x",
    "https://[2606:4700::1111]/",
    "HTTPS://Example.COM/",
  ])("the URL %s is accepted", async (url) => {
    await putEndpoint(control, "good-url", { url }, { key });
    expect(await oneOf(superuser, "select url from webhooks.endpoints where name = 'good-url'")).toEqual({ url });
  });

  test("every accepted URL is what the relay would dial", async () => {
    const number = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 10, 127, 169, 172, 192, 254));
    const digits = fc.tuple(number, fc.constantFrom(10, 8, 16)).map(([value, base]) => {
      const text = value.toString(base);
      return base === 16 ? `0x${text}` : base === 8 ? `0${text}` : text;
    });
    const host = fc.oneof(
      fc.array(digits, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(".")),
      fc.ipV4(),
      fc.ipV6().map((address) => `[${address}]`),
      fc.domain(),
      fc.string({ maxLength: 12 }),
    );
    const rules = { allowHttp: false, policy: createAddressPolicy() };
    await fc.assert(
      fc.asyncProperty(host, fc.constantFrom("", ".", ":443", ":8443", "@x", "/p"), async (name, end) => {
        const url = `https://${name}${end}`;
        const taken = await rowsOf(superuser, "select webhooks.check_endpoint_url($1, false)", [url]).then(
          () => true,
          () => false,
        );
        if (taken) expect([url, checkUrl(url, rules)]).toMatchObject([url, { ok: true }]);
      }),
      { numRuns: 300 },
    );
  });

  test("an operator may name a private address, for a sandbox", async () => {
    await putEndpoint(control, "sandboxed", { url: "http://127.0.0.1:4010/hook" }, { key, allowPrivate: true });
    expect(await forRelay("sandboxed")).toMatchObject({ enabled: true });
    // A later change of something else does not check the address again.
    await putEndpoint(control, "sandboxed", { topics: ["*"] }, { key });
  });

  test.each<[string, object, string]>([
    ["BAD NAME", {}, "name"],
    ["-dash", {}, "name"],
    ["bad", { topics: ["a b"] }, "topics"],
    ["bad", { topics: ["*.submitted"] }, "topics"],
    ["bad", { topics: [""] }, "topics"],
    ["bad", { topics: Array.from({ length: 51 }, () => "*") }, "topics"],
    ["bad", { topics: "transfers.*" }, "wrong type"],
    ["bad", { description: "" }, "description"],
    ["bad", { headers: { "webhook-id": "x" } }, "headers"],
    ["bad", { headers: { "X-A": "a\r\nb: c" } }, "headers"],
    ["bad", { headers: { "X-A": "a", "x-a": "b" } }, "headers"],
    ["bad", { headers: { "X-A": 1 } }, "headers"],
    ["bad", { headers: ["X-A"] }, "Headers"],
  ])("an endpoint %s with %j is refused", async (name, changes, word) => {
    const refused = await add(name, changes).catch((error: unknown) => error);
    expect(refused).toMatchObject({ message: expect.stringContaining(word) });
    expect(await rowsOf(superuser, "select from webhooks.endpoints where name in ('bad', $1)", [name])).toEqual([]);
  });

  test("a relay that ends an endpoint does not wait for an operator who is changing it", async () => {
    await add("changing");
    const before = await forRelay("changing");
    const operator = await db.as("headroom_control").connect();
    await operator.query("begin");
    await rowsOf(operator, "select webhooks.disable_endpoint('changing')");
    expect(await gone(before!)).toEqual({ gone: false });
    await operator.query("rollback");
    expect(await gone(before!)).toEqual({ gone: true });
    await operator.end();
  });

  test("a workspace has at most 50 endpoints, the installation any number, and two callers cannot both make the last one", async () => {
    await rowsOf(superuser, "insert into directory.workspaces (id, name) values ('crowded', 'Crowded')");
    for (let n = 0; n < 49; n += 1) await make(control, `crowded-${n}`, "crowded");
    const second = await db.as("headroom_control").connect();
    const made = await Promise.allSettled([make(control, "last", "crowded"), make(second, "one-more", "crowded")]);
    expect(made.map((one) => one.status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(String(made.find((one) => one.status === "rejected")?.reason)).toContain("50 endpoints");
    await make(control, "installations-own");
    await second.end();
  });

  test("an endpoint of a workspace that does not exist is refused", async () => {
    const refusal = await refusalOf(
      rowsOf(
        control,
        `select webhooks.put_endpoint('bad', '{"url": "https://example.com/"}', p_tenant_id => 'nowhere')`,
      ),
    );
    expect(refusal).toMatchObject({ code: "PT404", message: 'There is no workspace "nowhere".' });
  });

  test("an unknown field is refused", async () => {
    const refusal = await refusalOf(
      rowsOf(control, `select webhooks.put_endpoint('x', '{"urll": "https://example.com"}')`),
    );
    expect(refusal).toMatchObject({ code: "PT400", message: 'There is no field "urll" here.' });
  });

  test("disabling, enabling and removing distinguish existing endpoints from missing ones", async () => {
    await add("switched");
    await rowsOf(control, "select webhooks.disable_endpoint('switched', 'their maintenance')");
    expect(await forRelay("switched")).toMatchObject({ enabled: false, disabled_code: "operator", secrets: null });
    expect((await listEndpoints(control, { key })).find(({ name }) => name === "switched")).toMatchObject({
      enabled: false,
      disabledCode: "operator",
      disabledReason: "their maintenance",
      disabledAt: expect.any(Date),
    });
    await rowsOf(control, "select webhooks.enable_endpoint('switched')");
    expect(await forRelay("switched")).toMatchObject({ enabled: true, disabled_code: null });
    await rowsOf(control, "select webhooks.remove_endpoint('switched')");
    expect(await forRelay("switched")).toBeUndefined();
    expect(
      await rowsOf(
        superuser,
        "select from webhooks.endpoint_secrets s where not exists (select from webhooks.endpoints e where e.id = s.endpoint_id)",
      ),
    ).toEqual([]);
    for (const call of [
      "remove_endpoint",
      "enable_endpoint",
      "disable_endpoint",
      "rotate_endpoint_secret",
      "ping_endpoint",
    ]) {
      expect(await refusalOf(rowsOf(control, `select webhooks.${call}('switched')`))).toMatchObject({ code: "PT404" });
    }
  });

  test("a relay's report that an endpoint is gone counts only for the endpoint as the relay knew it", async () => {
    await add("moved");
    const before = await forRelay("moved");
    await add("moved", { url: "https://example.com/new" });
    expect(await gone(before!)).toEqual({ gone: false });
    expect(await forRelay("moved")).toMatchObject({ enabled: true });
    const now = await forRelay("moved");
    expect(await gone(now!)).toEqual({ gone: true });
    expect(await gone(now!)).toEqual({ gone: false });
    expect(await forRelay("moved")).toMatchObject({ enabled: false, disabled_code: "gone" });
  });

  test("two callers who make the same endpoint at the same time make one", async () => {
    const [one, two] = await db.twoConnections("headroom_control");
    await one.query("begin");
    expect(await makeTwins(one)).toEqual([{ created: true }]);
    await two.query("begin");
    const second = makeTwins(two);
    await db.waitUntilBlocked(two);
    await one.query("commit");
    expect(await second).toEqual([{ created: false }]);
    await two.query("commit");
    expect((await forRelay("twins"))?.secrets).toHaveLength(1);
    await Promise.all([one.end(), two.end()]);
  });

  test.each<[string[], string, string, boolean]>([
    [["*"], "ledger", "entry.posted", true],
    [["transfers.*"], "transfers", "com.acme.transfer.settled", true],
    [["transfers.*"], "ledger", "com.acme.transfer.settled", false],
    [["com.acme.*"], "transfers", "com.acme.transfer.settled", true],
    [["com.acme.transfer.settled"], "transfers", "com.acme.transfer.settled", true],
    [["com.acme.transfer.settled"], "transfers", "com.acme.transfer.settled.v2", false],
    [["transfers.com.acme.*"], "transfers", "com.acme.transfer.settled", true],
    [["com.acme"], "transfers", "com.acme.transfer.settled", false],
    [["com.acme.*"], "transfers", "com.acmeX", false],
    [["capacity.*"], "capacity", "capacity.request.request_submitted", true],
    [["capacity.request.*", "ledger.*"], "ledger", "entry.posted", true],
    [[], "ledger", "entry.posted", false],
  ])("topics %j take %s events of the type %s: %s", async (topics, stream, type, taken) => {
    const matches = "select webhooks.topic_matches($1, $2, $3) as taken";
    expect(await oneOf(superuser, matches, [topics, stream, type])).toEqual({ taken });
  });
});
