/** `headroom endpoint …`, run as an operator runs it, with a real relay that reads the endpoints from the database. */
import { expect, onTestFinished, test } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { startReceiver } from "../../rails/receiver/receiver.ts";
import { rowsOf } from "../../outbox/queries.ts";
import { headroom, startHeadroom } from "../harness.ts";

const db = await createTestDatabase();
const secretKey = "0123456789abcdef0123456789abcdef";
const env = { DATABASE_URL: db.as("headroom_control").url, HEADROOM_SECRET_KEY: secretKey };
const run = (...words: string[]) => headroom(["endpoint", ...words], { env });

async function json<T>(...words: string[]): Promise<T> {
  const { status, out, err } = await run(...words, "--json");
  expect([status, err]).toEqual([0, ""]);
  return JSON.parse(out) as T;
}

test(
  "an endpoint is made, tested, rotated, disabled, enabled and removed; its secrets are shown once each",
  { timeout: 120_000 },
  async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver.close());
    const url = `${receiver.url}/hook?token=t0ken`;
    const made = await run("add", "orders", "--url", url, "--topic", "transfers.*", "--allow-private");
    expect(made).toMatchObject({ status: 0, err: "" });
    const secret = /whsec_\S+/.exec(made.out)![0];
    expect(made.out).toContain("it is not shown again");
    receiver.setSecrets([secret]);

    const relay = startHeadroom(
      ["relay", "--json", "--allow-http", "--allow-private", "127.0.0.1/32", "--streams", "transfers"],
      {
        env: { DATABASE_URL: db.as("headroom_executor").url, HEADROOM_SECRET_KEY: secretKey },
      },
    );
    await relay.line((line) => line.includes("relay_ready"));
    const tried = await run("test", "orders");
    expect(tried).toMatchObject({ status: 0, err: "" });
    expect(tried.out).toMatch(/^orders accepted the ping in \d+ ms \(HTTP 200\)\.\n$/);
    expect(receiver.book.requests[0]).toMatchObject({ signature: "valid" });
    expect(JSON.parse(receiver.book.requests[0]!.body!)).toMatchObject({ type: "headroom.ping", subject: "orders" });

    // A receiver that does not have the new secret yet still verifies.
    const { secret: next } = await json<{ secret: string }>("rotate", "orders");
    expect(next).not.toBe(secret);
    expect(await json("test", "orders")).toMatchObject({ outcome: "delivered", code: "200" });
    expect(receiver.book.requests.at(-1)).toMatchObject({ signature: "valid" });

    const listed = await run("list");
    expect(listed.out).toMatch(
      /^orders +enabled +http:\/\/127\.0\.0\.1:\d+\/… +transfers\.\* +- +2, the old one until /m,
    );
    expect(listed.out).not.toContain("t0ken");
    for (const shown of [secret, next]) expect(listed.out + JSON.stringify(await json("list"))).not.toContain(shown);

    // A failing ping says why, and leaves no dead letter behind.
    receiver.script.push({ kind: "status", status: 400, body: "unknown tenant" });
    const failed = await run("test", "orders");
    expect(failed.status).toBe(1);
    expect(failed.out).toContain("orders did not accept the ping");
    expect(failed.out).toContain("http_4xx");
    expect(failed.out).toContain("unknown tenant");
    expect(await rowsOf(db.superuser.pool, "select from outbox.dead")).toEqual([]);

    // Gone: the relay disables it, and status says so. A relay caches an endpoint for a moment, and an answer from before the endpoint's
    // last change does not disable the changed one: so the receiver answers it until it is disabled.
    let status = await headroom(["outbox", "status"], { env });
    while (!/^orders +disabled \(gone\)/m.test(status.out)) {
      receiver.script.push({ kind: "status", status: 410 });
      expect((await run("test", "orders")).out).toContain("http_410");
      status = await headroom(["outbox", "status"], { env });
    }
    expect(status.out).toContain("Endpoint orders is disabled");
    expect((await run("list")).out).toContain("The receiver answered 410 Gone.");
    expect((await run("test", "orders")).out).toContain("endpoint_disabled");

    await db
      .as("headroom_ingest")
      .pool.query("insert into payments.outbox_transfers (payload) values ($1)", [
        JSON.stringify({ specversion: "1.0", id: "missed", source: "/tests", type: "moved" }),
      ]);
    expect((await run("enable", "orders")).out).toContain("orders is enabled.");
    expect(await json("replay", "orders", "--from", "1h")).toEqual({ name: "orders", enqueued: 1 });
    expect((await run("replay", "orders", "--from", "1h")).out).toBe(
      "orders has already been sent every event of that period.\n",
    );
    expect((await run("disable", "orders", "--reason", "their maintenance")).status).toBe(0);
    expect((await json<{ endpoints: object[] }>("list")).endpoints).toMatchObject([
      { name: "orders", enabled: false, disabledCode: "operator", disabledReason: "their maintenance" },
    ]);
    expect(await json("remove", "orders")).toEqual({ name: "orders", removed: true });
    expect((await run("list")).out).toContain("There are no endpoints.");
    expect((await relay.end()).status).toBe(0);
  },
);

test("without a relay a ping says what is missing", async () => {
  await run("add", "lonely", "--url", "https://example.com/");
  const tried = await run("test", "lonely", "--wait", "1");
  expect(tried.status).toBe(1);
  expect(tried.out).toContain("No relay is running.");
});

test.each([
  ["a private address", ["add", "bad", "--url", "https://10.0.0.1/"], 1, "is not acceptable"],
  ["no address", ["add", "bad"], 1, "is not acceptable"],
  ["an invalid name", ["add", "Bad Name", "--url", "https://example.com/"], 1, "name"],
  [
    "a header without a value",
    ["add", "bad", "--url", "https://example.com/", "--header", "nothing"],
    2,
    "Give a name and a value",
  ],
  [
    "a header from nowhere",
    ["add", "bad", "--url", "https://example.com/", "--header", "a: env:NOT_THERE"],
    2,
    "NOT_THERE is not set",
  ],
  ["an unknown endpoint", ["rotate", "nobody"], 1, "There is no endpoint"],
  ["too long a window", ["rotate", "nobody", "--hours", "1000"], 2, "0 to 720"],
  ["a replay of no time", ["replay", "nobody"], 2, "--from"],
])("%s is refused with a way out", async (_what, words, status, says) => {
  const refused = await run(...words);
  expect(refused.status).toBe(status);
  expect(refused.err).toContain(says);
  expect(await rowsOf(db.superuser.pool, "select from webhooks.endpoints where name = 'bad'")).toEqual([]);
});

test("without the key no endpoint is made, and the message names the missing variable", async () => {
  const refused = await headroom(["endpoint", "add", "bad", "--url", "https://example.com/"], {
    env: { DATABASE_URL: db.as("headroom_control").url },
  });
  expect(refused.status).toBe(1);
  expect(refused.err).toContain("HEADROOM_SECRET_KEY");
});
