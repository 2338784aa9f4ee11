/** `headroom relay`, run as a user runs it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { newSecret } from "../../rails/webhook/webhook-harness.ts";
import { startReceiver } from "../../rails/receiver/receiver.ts";
import { probeRail } from "../../outbox/relay/rails.ts";
import { createStage, until } from "../../outbox/relay/stage.ts";
import { headroom, startHeadroom, type Running } from "../harness.ts";

const stage = await createStage();
const env = { DATABASE_URL: stage.db.as("headroom_executor").url };
const railsModule = fileURLToPath(new URL("fixtures/rails.ts", import.meta.url));
const folder = await mkdtemp(join(tmpdir(), "headroom-cli-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

await stage.declare(
  probeRail({ name: "shop" }),
  probeRail({ name: "slow", timeoutMs: 20_000 }),
  probeRail({ name: "refusing" }),
  probeRail({ name: "stuck", timeoutMs: 25_000 }),
  probeRail({ name: "webhook", timeoutMs: 15_000 }),
);

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

function started(relay: Running): Promise<string> {
  return relay.line((line) => line.includes("relay_ready") || line.startsWith("rails "));
}

test("delivers with the rails of a module, says what it serves, and ends in order on SIGTERM", async () => {
  const stream = await stage.stream();
  const relay = startHeadroom(["relay", "--rails", railsModule, "--streams", stream, "--name", "cli-relay"], { env });
  await started(relay);
  const { outboxId } = await stage.enqueue({ stream, rail: "shop" });
  const lines = await stage.untilState(outboxId, "DISPATCHED");
  expect(lines[1]).toMatchObject({ rail_reference: "shop-1" });
  expect(await stage.query("select from outbox.relays where name = 'cli-relay'")).toHaveLength(1);
  const { status, out } = await relay.end("SIGTERM");
  expect(status).toBe(0);
  expect(out).toMatch(/database +postgresql:\/\/login_headroom_executor@127\.0\.0\.1:\d+\/\S+ \(PostgreSQL 18\.\d+\)/);
  expect(out).toMatch(/wake-up +LISTEN, and polling/);
  expect(out).toContain(`streams    ${stream}`);
  expect(out).toContain("shop (idempotent)");
  expect(await stage.query("select from outbox.relays where name = 'cli-relay'")).toHaveLength(0);
});

test("finishes work in progress when it is stopped", async () => {
  const stream = await stage.stream();
  const relay = startHeadroom(["relay", "--rails", railsModule, "--streams", stream], { env });
  await started(relay);
  const { outboxId } = await stage.enqueue({ stream, rail: "slow" });
  await stage.untilState(outboxId, "DISPATCHING");
  expect(await relay.end("SIGINT")).toMatchObject({ status: 0 });
  expect(await stage.states(outboxId)).toEqual(["DISPATCHING", "DISPATCHED"]);
});

test("a second signal ends it immediately", async () => {
  const stream = await stage.stream();
  const relay = startHeadroom(["relay", "--rails", railsModule, "--streams", stream], { env });
  await started(relay);
  const { outboxId } = await stage.enqueue({ stream, rail: "stuck" });
  await stage.untilState(outboxId, "DISPATCHING");
  relay.child.kill("SIGINT");
  await relay.line((line) => line.includes("stopping"));
  expect(await relay.end("SIGINT")).toMatchObject({ status: 130 });
  // Nothing is lost: the lease runs out, and another relay takes the row.
  expect(await stage.states(outboxId)).toEqual(["DISPATCHING"]);
});

test("without rails it says what to do, and still runs the engine's upkeep", async () => {
  const relay = startHeadroom(["relay", "--no-listen"], { env });
  await relay.line((line) => line.includes("--endpoints"));
  const { status, out } = await relay.end();
  expect(status).toBe(0);
  expect(out).toContain("rails      none");
  expect(out).toContain("polling only");
});

test("logs one JSON object a line, with known fields only", async () => {
  const stream = await stage.stream();
  const relay = startHeadroom(["relay", "--rails", railsModule, "--streams", stream, "--json"], { env });
  await started(relay);
  const { out, err } = await relay.end();
  expect(err).toBe("");
  const entries = out.split("\n").map((line): Record<string, unknown> => JSON.parse(line));
  expect(entries.map((entry) => entry["event"])).toEqual(["relay_started", "relay_ready", "stopping", "relay_stopped"]);
  const known = ["time", "level", "event", "relayId", "name", "streams", "rails", "message"];
  expect(entries.flatMap((entry) => Object.keys(entry)).filter((name) => !known.includes(name))).toEqual([]);
});

test("warns of each row that is given up, by its stream, rail, key and code", async () => {
  const stream = await stage.stream();
  const relay = startHeadroom(["relay", "--rails", railsModule, "--streams", stream, "--json"], { env });
  await started(relay);
  const { outboxId } = await stage.enqueue({ stream, rail: "refusing", key: "shop-7" });
  const line = await relay.line((text) => text.includes("given_up"));
  expect(JSON.parse(line)).toEqual({
    time: expect.any(String),
    level: "warn",
    event: "given_up",
    stream,
    rail: "refusing",
    outboxId,
    key: "shop-7",
    attempt: 1,
    code: "no_such_shop",
  });
  expect(await relay.end()).toMatchObject({ status: 0 });
});

test("serves metrics, health and readiness on loopback", async () => {
  const stream = await stage.stream();
  const relay = startHeadroom(["relay", "--rails", railsModule, "--streams", stream, "--metrics-port", "0", "--json"], {
    env,
  });
  const { metricsUrl } = JSON.parse(await started(relay)) as { metricsUrl: string };
  expect(new URL(metricsUrl).hostname).toBe("127.0.0.1");
  const { outboxId } = await stage.enqueue({ stream, rail: "shop" });
  await stage.untilState(outboxId, "DISPATCHED");
  const scrape = await fetch(`${metricsUrl}/metrics`);
  expect(scrape.headers.get("content-type")).toContain("version=0.0.4");
  const text = await scrape.text();
  expect(text).toContain('attempts_total{state="DISPATCHED"} 1');
  expect(text).toContain(`outbox_pending_depth{stream="${stream}"} 0`);
  expect((await fetch(`${metricsUrl}/healthz`)).status).toBe(200);
  expect((await fetch(`${metricsUrl}/readyz`)).status).toBe(200);
  expect((await fetch(`${metricsUrl}/else`)).status).toBe(404);
  expect((await fetch(`${metricsUrl}/metrics`, { method: "POST" })).status).toBe(405);
  expect(await relay.end()).toMatchObject({ status: 0 });
});

describe("the built-in webhook rail", () => {
  test("sends to the endpoint that the destination or the key names, with secrets from the environment", async () => {
    const [orders, others] = [newSecret(), newSecret()];
    const receiver = await startReceiver({ secrets: [orders, others] });
    try {
      const endpoints = await fileOf("endpoints.json", {
        orders: {
          url: `${receiver.url}/orders`,
          secrets: ["env:ORDERS_SECRET"],
          headers: { authorization: "env:TOKEN" },
        },
        "*": { url: `${receiver.url}/others`, secrets: ["env:OTHERS_SECRET"] },
      });
      const stream = await stage.stream();
      const relay = startHeadroom(
        ["relay", "--endpoints", endpoints, "--streams", stream, "--allow-http", "--allow-private", "127.0.0.1/32"],
        { env: { ...env, ORDERS_SECRET: orders, OTHERS_SECRET: others, TOKEN: "Bearer abc-def-ghi" } },
      );
      await started(relay);
      const rows = await stage.enqueueMany([
        { stream, rail: "webhook", key: "orders:1" },
        { stream, rail: "webhook", key: "elsewhere:1" },
        { stream, rail: "webhook", key: "elsewhere:2", destination: "orders" },
      ]);
      await stage.untilStates(
        rows.map((row) => row.outboxId),
        "DISPATCHED",
      );
      const { out, err } = await relay.end();
      const paths = new Map(receiver.book.requests.map((request) => [request.webhookId, request.path]));
      expect(rows.map((row) => paths.get(row.outboxId))).toEqual(["/orders", "/others", "/orders"]);
      expect(receiver.book.requests.every((request) => request.signature === "valid")).toBe(true);
      expect(receiver.book.requests.map((request) => request.headers?.authorization)).toContain("Bearer abc-def-ghi");
      for (const secret of [orders, others, "abc-def-ghi"]) expect(out + err).not.toContain(secret);
    } finally {
      await receiver.close();
    }
  });

  test.each([
    ["is missing", undefined, "cannot be read"],
    ["is not JSON", '{ "orders": whsec_quoted', "is not JSON"],
    ["has an unknown field", { orders: { url: "https://example.com", secrets: [], secert: "x" } }, "malformed"],
    [
      "has a bad secret",
      { orders: { url: "https://example.com", secrets: ["short"] } },
      'Endpoint "orders" is malformed',
    ],
    [
      "names a variable that is not set",
      { orders: { url: "https://example.com", secrets: ["env:NO_SUCH_VARIABLE"] } },
      "NO_SUCH_VARIABLE",
    ],
  ])("a file that %s is refused", async (_what, content, message) => {
    const path = content === undefined ? join(folder, "none.json") : await fileOf("bad.json", content);
    const outcome = await headroom(["relay", "--endpoints", path], { env });
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain(message);
    expect(outcome.err).not.toContain("whsec_quoted");
  });
});

describe("is refused", () => {
  test.each([
    [["--rails", "no-such-module.ts"], 2, "cannot be loaded"],
    [["--rails", "fixtures/not-rails.ts"], 2, "is not a rail"],
    [["--streams", "no-such-stream"], 1, "There is no stream"],
    [["--streams", "a,,b"], 2, "empty name"],
    [["--poll-ms", "5"], 2, "from 250 to 1000"],
    [["--concurrency", "many"], 2, "whole number"],
  ])("%j", async (parameters, status, message) => {
    const outcome = await headroom(["relay", ...parameters], { env, cwd: import.meta.dirname });
    expect(outcome).toMatchObject({ status, out: "" });
    expect(outcome.err).toContain(message);
  });

  test("when the metrics port is taken", async () => {
    const receiver = await startReceiver();
    const outcome = await headroom(["relay", "--metrics-port", String(receiver.port)], { env });
    await receiver.close();
    expect(outcome).toMatchObject({ status: 1, out: "" });
    expect(outcome.err).toContain("--metrics-port");
  });
});

/** How many may connect, to this database only: all tests share the login. */
function admit(most: number): Promise<unknown> {
  return stage.query(
    `do $$ begin execute format('alter database %I connection limit ${most}', current_database()); end $$`,
  );
}

test("readiness fails when the database is gone", async () => {
  const relay = startHeadroom(["relay", "--metrics-port", "0", "--json"], { env });
  const { metricsUrl } = JSON.parse(await started(relay)) as { metricsUrl: string };
  const ready = async (): Promise<number> => (await fetch(`${metricsUrl}/readyz`)).status;
  expect(await ready()).toBe(200);
  await admit(0);
  try {
    await until(ready, (status) => status === 503, "not ready");
    expect((await fetch(`${metricsUrl}/healthz`)).status).toBe(200);
  } finally {
    await admit(-1);
  }
  await until(ready, (status) => status === 200, "ready again");
  expect(await relay.end()).toMatchObject({ status: 0 });
});
