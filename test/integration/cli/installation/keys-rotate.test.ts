/**
 * `headroom keys rotate` and `headroom secret`, by the steps of docs/operating: real relays and servers keep working while keys are
 * changed.
 */
import { describe, expect, test } from "vitest";
import { makeConfirmationToken } from "../../../../src/capacity/index.ts";
import { setSecret } from "../../../../src/db/secrets/index.ts";
import { startWorkflow } from "../../capacity/harness.ts";
import { jwtSecret } from "../../http/harness.ts";
import { Publishing, envelope } from "../../webhooks/harness.ts";
import { secretKey as oldKey } from "../../webhooks/stored-rail.ts";
import { until } from "../../outbox/relay/stage.ts";
import { headroom, startHeadroom, type Running } from "../harness.ts";

const newKey = "the key after it, of thirty-two bytes or more";
const workflow = await startWorkflow(18);
const { db } = workflow;
const events = new Publishing(db);

const before = { HEADROOM_SECRET_KEY: oldKey };
const between = { HEADROOM_SECRET_KEY: newKey, HEADROOM_SECRET_KEY_PREVIOUS: oldKey };
const after = { HEADROOM_SECRET_KEY: newKey };
type Keys = Readonly<Record<string, string>>;

const operator = (keys: Keys): { env: Keys } => ({ env: { DATABASE_URL: db.as("headroom_control").url, ...keys } });

async function relay(keys: Keys): Promise<Running> {
  const flags = ["--json", "--allow-http", "--allow-private", "127.0.0.1/32"];
  const running = startHeadroom(["relay", ...flags], {
    env: { DATABASE_URL: db.as("headroom_executor").url, ...keys },
  });
  await running.line((line) => line.includes("relay_ready"));
  return running;
}

async function serve(keys: Keys): Promise<{ running: Running; url: string }> {
  const env = { HEADROOM_GATEWAY_URL: db.as("authenticator").url, HEADROOM_JWT_SECRET: jwtSecret, ...keys };
  const running = startHeadroom(["serve", "--port", "0", "--json"], { env });
  const ready = await running.line((line) => line.includes("server_ready"));
  return { running, url: (JSON.parse(ready) as { url: string }).url };
}

/** A link as it is mailed under this key. */
async function mailed(key: string): Promise<string> {
  const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
  const text = "select confirmation_token_id as id from capacity.requests where id = $1";
  const [row] = await events.query<{ id: string }>(text, [id]);
  const executor = await db.as("headroom_executor").connect();
  return makeConfirmationToken(executor, row?.id ?? "", key);
}

const open = async (url: string, token: string): Promise<number> => (await fetch(`${url}/confirm/${token}`)).status;

async function deliver(subject: string): Promise<void> {
  const sent = await events.publish("transfers", envelope({ subject }), envelope({ subject }));
  await events.hurry();
  await until(
    () =>
      events.fates(
        "transfers",
        sent.map(({ id }) => id),
      ),
    (fates) => fates.every(({ status }) => status === "SENT"),
    `the deliveries ${subject}`,
  );
}

async function clean(): Promise<void> {
  await events.query("delete from headroom.boxes");
  await events.query("delete from headroom.sealing_key");
}

async function fill(count: number): Promise<void> {
  await clean();
  const control = await db.as("headroom_control").connect();
  for (let index = 0; index < count; index += 1) {
    await setSecret(control, { name: `S${index}`, value: `value ${index}`, key: oldKey });
  }
}

test("by the steps of the guide nothing is lost, late or wrongly signed, while old and new processes run side by side", async () => {
  await clean();
  const control = await db.as("headroom_control").connect();
  await setSecret(control, { name: "CONFIRMATION_TOKEN_SECRET", value: "c".repeat(40), key: oldKey });
  const { receiver, secret } = await events.endpoint("stays", {
    headers: { "x-token": "t" },
    topics: ["com.example.*"],
  });
  const [oldRelay, oldServer] = [await relay(before), await serve(before)];
  const link = await mailed(oldKey);
  await deliver("before");
  expect(await open(oldServer.url, link)).toBe(200);

  // One process after the other gets both keys; the others can read what it stores meanwhile.
  const [newRelay, newServer] = [await relay(between), await serve(between)];
  const added = await headroom(["endpoint", "rotate", "stays", "--json"], operator(between));
  receiver.setSecrets([secret, (JSON.parse(added.out) as { secret: string }).secret]);
  await deliver("between");
  expect(await open(oldServer.url, link)).toBe(200);
  expect(await open(newServer.url, link)).toBe(200);
  for (const old of [oldRelay, oldServer.running]) expect((await old.end()).status).toBe(0);
  expect(oldRelay.lines.join("\n")).not.toContain("endpoint_unavailable");

  const rotated = await headroom(["keys", "rotate", "--json"], operator(between));
  expect(rotated).toMatchObject({ status: 0 });
  expect(JSON.parse(rotated.out)).toEqual({
    outcome: "rotated",
    sealed: 4,
    resealed: 4,
    unreadable: [],
    inVault: 0,
    previousNeeded: false,
  });
  await deliver("rotated");
  expect(await open(newServer.url, link)).toBe(200);
  for (const each of [newRelay, newServer.running]) expect((await each.end()).status).toBe(0);
  expect(newRelay.lines.join("\n")).not.toContain("endpoint_unavailable");

  // A process without the new key delivers nothing and loses nothing.
  const forgotten = await relay(before);
  const [late] = await events.publish("transfers", envelope({ subject: "late" }));
  await forgotten.line((line) => line.includes("endpoint_unavailable"));
  await forgotten.end();

  const [lastRelay, lastServer] = [await relay(after), await serve(after)];
  await deliver("after");
  await until(
    async () => {
      await events.hurry();
      return (await events.fate("transfers", late?.id ?? "")).status;
    },
    (status) => status === "SENT",
    "what waited",
  );
  expect(await open(lastServer.url, link)).toBe(200);
  for (const each of [lastRelay, lastServer.running]) await each.end();
  expect(receiver.book.requests.map(({ signature }) => signature)).not.toContain("invalid");
  expect(receiver.book.requests).toHaveLength(9);
  // Eight processes are started, one after the other.
}, 120_000);

test("killed in the middle, it leaves values that every process with both keys can read, and the next run finishes it", async () => {
  await fill(60);
  const killed = startHeadroom(["keys", "rotate", "--batch", "1"], operator(between));
  await until(
    () => killed.errors.length,
    (lines) => lines > 2,
    "its progress",
  );
  await killed.end("SIGKILL");
  const state = async (keys: Keys): Promise<{ sealed: number; resealed: number }> =>
    JSON.parse((await headroom(["keys", "rotate", "--dry-run", "--json"], operator(keys))).out);
  const half = await state(between);
  expect(half).toMatchObject({ sealed: 60, unreadable: [], previousNeeded: true });
  expect(half.resealed).toBeLessThan(60);
  const again = await headroom(["keys", "rotate"], operator(between));
  expect(again).toMatchObject({ status: 0, err: expect.stringContaining("60 of 60 done") });
  expect(again.out).toContain(
    `${half.resealed} of 60 values were encrypted again. Each was decrypted with HEADROOM_SECRET_KEY alone to check it.`,
  );
  expect(again.out).toContain("Nothing needs HEADROOM_SECRET_KEY_PREVIOUS any more");
  expect(await state(after)).toMatchObject({ sealed: 60, resealed: 0, previousNeeded: false });
});

describe("wrong keys", () => {
  test("change nothing, are named as wrong, and the message says how to continue", async () => {
    await fill(2);
    const refused = await headroom(["keys", "rotate"], operator(after));
    expect(refused.status).toBe(1);
    expect(refused.out).toContain(
      "2 of 2 values can be decrypted with neither key. Nothing was changed.\n  S0\n  S1\n",
    );
    expect(refused.out).toContain("HEADROOM_SECRET_KEY_PREVIOUS");
    const listed = await headroom(["secret", "list", "--json"], operator(before));
    expect(JSON.parse(listed.out).secrets).toMatchObject([{ readable: true }, { readable: true }]);
  });

  test("a missing key is a mistake in the call", async () => {
    expect(await headroom(["keys", "rotate"], operator({}))).toMatchObject({
      status: 2,
      err: expect.stringContaining("HEADROOM_SECRET_KEY is not set"),
    });
    const halved = operator({ HEADROOM_SECRET_KEY_PREVIOUS: oldKey });
    expect(await headroom(["keys", "rotate"], halved)).toMatchObject({
      status: 2,
      err: expect.stringContaining("HEADROOM_SECRET_KEY_PREVIOUS is set, but HEADROOM_SECRET_KEY is not"),
    });
  });

  test("a lost key is reported as lost: what it sealed stays, is named, and can be stored again", async () => {
    await fill(1);
    const lost = await headroom(["keys", "rotate", "--lost", "--json"], operator(after));
    expect(lost.status).toBe(1);
    expect(JSON.parse(lost.out)).toMatchObject({ outcome: "rotated", unreadable: ["S0"], previousNeeded: true });
    const found = await headroom(["keys", "rotate", "--json"], operator(between));
    expect(JSON.parse(found.out)).toMatchObject({ unreadable: [], previousNeeded: false });
  });
});

test("the previous secret still wakes the relay while it is being changed", async () => {
  const [current, previous] = ["r".repeat(40), "p".repeat(40)];
  const { running, url } = await serve({
    HEADROOM_RELAY_SECRET: current,
    HEADROOM_RELAY_SECRET_PREVIOUS: previous,
    DATABASE_URL: db.as("headroom_executor").url,
  });
  const wake = async (secret: string): Promise<number> =>
    (await fetch(`${url}/api/internal/outbox-relay`, { method: "POST", headers: { "x-outbox-secret": secret } }))
      .status;
  expect([await wake(current), await wake(previous), await wake("x".repeat(40))]).toEqual([200, 200, 401]);
  await running.end();
});
