/** How many connections a relay holds when it does everything at the same time, and its reads and tasks hang. */
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { setSecret } from "../../../../src/db/secrets/index.ts";
import { createStream, enqueueMany, registerRails } from "../../../../src/outbox/index.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { putEndpoint } from "../../../../src/webhooks/endpoints.ts";
import { customer, startSurfaces } from "../../capacity/surfaces.ts";
import { deadlineIn } from "../../capacity/timers/time.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { jwtSecret } from "../../http/harness.ts";
import { until } from "../../outbox/relay/stage.ts";
import { providerSecrets } from "../../product/harness.ts";
import { startReceiver, type Receiver } from "../../rails/receiver/receiver.ts";
import { envelope } from "../../webhooks/harness.ts";
import { startHeadroom } from "../harness.ts";
import makeRails from "./fixtures/rails.ts";

const railsModule = fileURLToPath(new URL("fixtures/rails.ts", import.meta.url));
const secretKey = "0123456789abcdef0123456789abcdef";
const relaySecret = "relay-secret-of-this-test-32-characters";
const loopback = ["--allow-http", "--allow-private", "127.0.0.1/32"];
const surfaces = await startSurfaces(18);
const { db, superuser } = surfaces;
const env = {
  DATABASE_URL: db.as("headroom_executor").url,
  HEADROOM_SECRET_KEY: secretKey,
  MAIL_FROM: "Headroom <capacity@headroom.example>",
};

interface World {
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
  readonly stream: string;
}

/** An endpoint, a mail server whose address is a stored credential, and a stream for the backlog. */
async function prepare(stream: string): Promise<World> {
  const sandbox = await startSandbox({ sampleData: defaultSampleData, secrets: providerSecrets });
  onTestFinished(() => sandbox.close());
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await superuser.query("select webhooks.remove_endpoint($1)", [stream]);
    await receiver.close();
  });
  const control = await db.as("headroom_control").connect();
  const secrets = { SMTP_URL: sandbox.smtpUrl, CONFIRMATION_TOKEN_SECRET: "confirmation-secret-of-32-or-more-bytes" };
  for (const [name, value] of Object.entries(secrets)) await setSecret(control, { name, value, key: secretKey });
  const settings = { url: `${receiver.url}/hook`, topics: ["*"] };
  const { secret } = await putEndpoint(control, stream, settings, { key: secretKey, allowPrivate: true });
  receiver.setSecrets([secret ?? ""]);
  await createStream(control, stream);
  await registerRails(control, makeRails());
  await control.end();
  return { sandbox, receiver, stream };
}

/** Everything that needs these tables waits: the first for endpoints, links and credentials, the others for the timers and for alerts. */
async function holdUp(...tables: readonly string[]): Promise<() => Promise<unknown>> {
  const blocker = await db.superuser.connect();
  await blocker.query("begin");
  for (const table of tables) await blocker.query(`lock table ${table} in access exclusive mode`);
  return () => blocker.query("rollback");
}

/** Mails with links, events for an endpoint, an offer that expires, and a backlog. */
async function load({ stream }: World, backlog: number): Promise<string[]> {
  const ids = await Promise.all(
    Array.from({ length: 3 }, () => surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer })),
  );
  const ingest = db.as("headroom_ingest").pool;
  for (let event = 0; event < 5; event += 1)
    await ingest.query("insert into payments.outbox_transfers (payload) values ($1)", [JSON.stringify(envelope())]);
  const row = { stream, rail: "shop", payload: {}, idempotencyKey: "only" };
  const rows = Array.from({ length: backlog }, (_, at) => ({
    ...row,
    key: `k${at}`,
    instructionId: `${stream}-${at}`,
  }));
  await enqueueMany(ingest, rows);
  return ids;
}

/** Counts connections by their name, and records the maximum. */
function watch(names: readonly string[]) {
  const most: Record<string, number> = { all: 0 };
  return {
    most,
    async look(): Promise<Record<string, number>> {
      const now = await rowsOf<{ name: string; n: number }>(
        superuser,
        `select application_name as name, count(*)::int as n from pg_stat_activity
          where datname = current_database() and application_name = any ($1) group by 1`,
        [names],
      );
      for (const { name, n } of now) most[name] = Math.max(most[name] ?? 0, n);
      most["all"] = Math.max(
        most["all"] ?? 0,
        now.reduce((sum, { n }) => sum + n, 0),
      );
      return Object.fromEntries(now.map(({ name, n }) => [name, n]));
    },
  };
}

const hungUp = (): Promise<object[]> =>
  rowsOf(
    superuser,
    "select from pg_stat_activity where datname = current_database() and application_name = 'headroom side' and wait_event_type = 'Lock'",
  );
/** Rows of these streams that are not finished. */
async function left(...streams: readonly string[]): Promise<number> {
  const text = "select coalesce(sum(pending + in_flight), 0)::int as n from outbox.status() where stream = any ($1)";
  const [row] = await rowsOf<{ n: number }>(superuser, text, [streams]);
  return row?.n ?? 0;
}
const mailed = ({ sandbox }: World, ids: readonly string[]): number =>
  ids.filter((id) => sandbox.mail.list(customer.email).some(({ subject }) => subject.includes(id))).length;

test("headroom relay holds at most eight, under load and while its reads and tasks hang", async () => {
  const world = await prepare("backlog");
  const options = ["--rails", railsModule, "--streams", "@built-in,backlog", "--metrics-port", "0", "--json"];
  const relay = startHeadroom(["relay", ...options, ...loopback], { env });
  const ready = JSON.parse(await relay.line((line) => line.includes("relay_ready"))) as { metricsUrl: string };
  const connections = watch(["headroom relay", "headroom side", "headroom"]);
  const release = await holdUp("headroom.boxes", "capacity.timer_failures", "webhooks.alerts");
  const ids = await load(world, 4_000);
  await deadlineIn(surfaces, ids[0]!, -1);
  await until(
    async () => {
      await Promise.all([fetch(`${ready.metricsUrl}/metrics`), fetch(`${ready.metricsUrl}/readyz`)]);
      await connections.look();
      return (await hungUp()).length;
    },
    (count) => count >= 3,
    "reads and tasks to hang",
    40_000,
  );
  // The backlog is sent meanwhile.
  await until(
    async () => {
      await connections.look();
      return left("backlog");
    },
    (count) => count === 0,
    "the backlog",
    40_000,
  );
  await release();
  await until(
    async () => {
      await connections.look();
      expect((await fetch(`${ready.metricsUrl}/readyz`)).status).toBe(200);
      return [await left("transfers", "backlog"), mailed(world, ids), world.receiver.book.requests.length];
    },
    ([rows, mails, events]) => rows === 0 && mails === ids.length && (events ?? 0) >= 5,
    "everything to be sent",
    40_000,
  );
  expect((await relay.end()).status).toBe(0);
  expect(connections.most["headroom side"]).toBe(4);
  expect(connections.most["headroom relay"]).toBeLessThanOrEqual(4);
  expect(connections.most["all"]).toBeLessThanOrEqual(8);
});

test("the relay of headroom serve adds at most six", async () => {
  const world = await prepare("turns");
  const options = ["--rails", railsModule, "--relay-streams", "@built-in,turns", "--port", "0", "--json"];
  const server = startHeadroom(["serve", ...options, ...loopback], {
    env: {
      ...env,
      HEADROOM_GATEWAY_URL: db.as("authenticator").url,
      HEADROOM_JWT_SECRET: jwtSecret,
      HEADROOM_RELAY_SECRET: relaySecret,
    },
  });
  const { url } = JSON.parse(await server.line((line) => line.includes("server_ready"))) as { url: string };
  const wake = () =>
    fetch(`${url}/api/internal/outbox-relay`, { method: "POST", headers: { "x-outbox-secret": relaySecret } });
  const connections = watch(["headroom drain", "headroom side", "headroom"]);
  const release = await holdUp("headroom.boxes");
  const ids = await load(world, 200);
  const turn = wake();
  await until(
    async () => {
      await connections.look();
      return (await hungUp()).length;
    },
    (count) => count >= 2,
    "reads to hang",
    40_000,
  );
  await release();
  await turn;
  await until(
    async () => {
      await wake();
      await connections.look();
      return [await left("transfers", "turns"), mailed(world, ids), world.receiver.book.requests.length];
    },
    ([rows, mails, events]) => rows === 0 && mails === ids.length && (events ?? 0) >= 5,
    "everything to be sent",
    40_000,
  );
  expect((await server.end()).status).toBe(0);
  expect(connections.most["headroom side"]).toBeGreaterThanOrEqual(2);
  expect(connections.most["headroom drain"]).toBe(2);
  expect(connections.most["all"]).toBeLessThanOrEqual(6);
});
