/** `headroom serve` as an operator runs it: a separate process, a real login, real signals. */
import { expect, it } from "vitest";
import { createTestDatabase } from "../../../helpers/database.ts";
import { rawRequest } from "../../../helpers/raw-http.ts";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";
import { jwtSecret, signToken } from "../../http/harness.ts";
import { headroom, startHeadroom } from "../harness.ts";

const db = await createTestDatabase();
const gatewayUrl = db.as("authenticator").url;

it("serves until it is stopped, and ends cleanly", async () => {
  const env = { HEADROOM_GATEWAY_URL: gatewayUrl, HEADROOM_JWT_SECRET: jwtSecret };
  const server = startHeadroom(["serve", "--port", "0", "--json"], { env });
  const ready = JSON.parse(await server.line((line) => line.includes("server_ready"))) as { url: string };
  expect(await (await fetch(`${ready.url}/readyz`)).text()).toBe("ok\n");
  const key = await signToken({ role: "service_role" });
  const read = await fetch(`${ready.url}/rest/v1/capacity_requests?select=id`, { headers: { apikey: key } });
  expect(read.status).toBe(200);
  expect(await read.json()).toEqual([]);
  const line = JSON.parse(await server.line((text) => text.includes("/rest/v1/:relation"))) as Record<string, unknown>;
  expect(line).toMatchObject({ event: "request", status: 200, role: "service_role", route: "/rest/v1/:relation" });
  const { status } = await server.end("SIGTERM");
  expect(status).toBe(0);
});

it("ends just as fast when it is stopped right after a burst of the worst forms", async () => {
  const env = { HEADROOM_GATEWAY_URL: gatewayUrl, HEADROOM_JWT_SECRET: jwtSecret };
  const server = startHeadroom(["serve", "--port", "0", "--json"], { env });
  const { url } = JSON.parse(await server.line((line) => line.includes("server_ready"))) as { url: string };
  const signed = {
    "x-slack-request-timestamp": String(Math.floor(Date.now() / 1000)),
    "x-slack-signature": `v0=${"0".repeat(64)}`,
  };
  const body = "a&".repeat(500_000);
  const burst = Array.from({ length: 40 }, async (_, place) => {
    const headers = { "content-type": "application/x-www-form-urlencoded", ...(place % 2 === 0 ? signed : {}) };
    return (await fetch(`${url}/webhooks/slack`, { method: "POST", body, headers }).catch(() => undefined))?.status;
  });
  await Promise.race(burst);
  expect((await server.end("SIGTERM")).status).toBe(0);
  await Promise.all(burst);
});

it("serves through a transaction pooler without settings, and says that it prepares nothing there", async () => {
  const pooler = await startTransactionPooler(gatewayUrl, 4);
  try {
    const env = { HEADROOM_GATEWAY_URL: pooler.url, HEADROOM_JWT_SECRET: jwtSecret };
    const server = startHeadroom(["serve", "--port", "0", "--json"], { env });
    const ready = JSON.parse(await server.line((line) => line.includes("server_ready"))) as Record<string, string>;
    expect(ready).toMatchObject({ prepare: false });
    const key = await signToken({ role: "service_role" });
    for (let turn = 0; turn < 6; turn += 1) {
      const read = await fetch(`${ready["url"]}/rest/v1/capacity_requests?select=id`, { headers: { apikey: key } });
      expect(read.status).toBe(200);
    }
    expect((await server.end("SIGTERM")).status).toBe(0);
  } finally {
    await pooler.stop();
  }
});

it("answers to its public name, logs those names, and answers to no other", async () => {
  const env = {
    HEADROOM_GATEWAY_URL: gatewayUrl,
    HEADROOM_JWT_SECRET: jwtSecret,
    HEADROOM_PUBLIC_URL: "https://capacity.example.com",
  };
  const server = startHeadroom(["serve", "--port", "0", "--json", "--also-host", "capacity.internal.example"], { env });
  const ready = await server.line((line) => line.includes("server_ready"));
  const { url, hosts } = JSON.parse(ready) as { url: string; hosts: string };
  expect(hosts).toContain("capacity.example.com, capacity.internal.example");
  const statusOf = async (host: string) => (await rawRequest(url, "/healthz", [`host: ${host}`])).status;
  for (const host of ["capacity.example.com", "capacity.internal.example:8400", "127.0.0.1:8400", "headroom:8400"]) {
    expect([host, await statusOf(host)]).toEqual([host, 200]);
  }
  expect(await statusOf("evil.example")).toBe(421);
  await server.end("SIGTERM");
});

it("says what is missing before it listens", async () => {
  const noSecret = await headroom(["serve", "--port", "0"], { env: { HEADROOM_GATEWAY_URL: gatewayUrl } });
  expect(noSecret).toMatchObject({ status: 2, err: expect.stringContaining("HEADROOM_JWT_SECRET") });
  const shortSecret = await headroom(["serve", "--port", "0"], {
    env: { HEADROOM_GATEWAY_URL: gatewayUrl, HEADROOM_JWT_SECRET: jwtSecret, HEADROOM_JWT_SECRET_PREVIOUS: "short" },
  });
  expect(shortSecret).toMatchObject({ status: 2, err: expect.stringContaining("HEADROOM_JWT_SECRET_PREVIOUS") });
  const shortRelay = await headroom(["serve", "--port", "0"], {
    env: { HEADROOM_GATEWAY_URL: gatewayUrl, HEADROOM_JWT_SECRET: jwtSecret, HEADROOM_RELAY_SECRET: "short" },
  });
  expect(shortRelay).toMatchObject({ status: 2, err: expect.stringContaining("HEADROOM_RELAY_SECRET") });
  const noDatabase = await headroom(["serve", "--port", "0"], { env: { HEADROOM_JWT_SECRET: jwtSecret } });
  expect(noDatabase).toMatchObject({ status: 2, err: expect.stringContaining("HEADROOM_GATEWAY_URL") });
});

it("says how to give its role a login when the database refuses it", async () => {
  const refused = new URL(gatewayUrl);
  [refused.username, refused.password] = ["headroom_gateway", "not-its-password"];
  const env = { HEADROOM_GATEWAY_URL: refused.toString(), HEADROOM_JWT_SECRET: jwtSecret };
  const { status, err } = await headroom(["serve", "--port", "0"], { env });
  expect(status).toBe(1);
  expect(err).toContain("The database refuses the server's login");
  expect(err).toContain("headroom migrate makes the role headroom_gateway without a login");
  expect(err).toContain("alter role headroom_gateway login password '<password>'");
  expect(err).not.toContain("not-its-password");
  refused.port = "1";
  const away = await headroom(["serve", "--port", "0"], { env: { ...env, HEADROOM_GATEWAY_URL: refused.toString() } });
  expect(away).toMatchObject({ status: 1, err: expect.stringContaining("host and port of the database URL") });
});

it("refuses a login whose claims about callers the database would not believe", async () => {
  const env = { HEADROOM_GATEWAY_URL: db.as("headroom_control").url, HEADROOM_JWT_SECRET: jwtSecret };
  const refused = await headroom(["serve", "--port", "0"], { env });
  expect(refused.status).toBe(2);
  expect(refused.err).toContain("headroom_gateway");
});

it("delivers when its relay route is called, with the login that may claim", async () => {
  const secret = "relay-secret-of-this-test-32-characters";
  const env = {
    HEADROOM_GATEWAY_URL: gatewayUrl,
    HEADROOM_JWT_SECRET: jwtSecret,
    HEADROOM_RELAY_SECRET: secret,
    DATABASE_URL: db.as("headroom_executor").url,
  };
  const server = startHeadroom(["serve", "--port", "0", "--json"], { env });
  const { url } = JSON.parse(await server.line((line) => line.includes("server_ready"))) as { url: string };
  const route = `${url}/api/internal/outbox-relay`;
  expect((await fetch(route, { method: "POST" })).status).toBe(401);
  const called = await fetch(route, { method: "POST", headers: { "x-outbox-secret": secret } });
  expect(called.status).toBe(200);
  expect(await called.json()).toMatchObject({ claimed: 0, more: false });
  expect(await server.end("SIGTERM")).toMatchObject({ status: 0 });
});

it("accepts only tokens with the configured issuer and audience", async () => {
  const env = {
    HEADROOM_GATEWAY_URL: gatewayUrl,
    HEADROOM_JWT_SECRET: jwtSecret,
    HEADROOM_JWT_ISSUER: "headroom, https://id.example",
    HEADROOM_JWT_AUDIENCE: "capacity",
  };
  const server = startHeadroom(["serve", "--port", "0", "--json", "--no-prepare", "--open-metrics"], { env });
  const { url } = JSON.parse(await server.line((line) => line.includes("server_ready"))) as { url: string };
  const statusOf = async (claims: Record<string, unknown>): Promise<number> => {
    const apikey = await signToken({ role: "service_role", ...claims });
    return (await fetch(`${url}/rest/v1/capacity_requests?select=id`, { headers: { apikey } })).status;
  };
  expect(await statusOf({ iss: "headroom", aud: "capacity" })).toBe(200);
  expect(await statusOf({ iss: "https://id.example", aud: "capacity" })).toBe(200);
  expect(await statusOf({ aud: "capacity" })).toBe(401);
  expect(await statusOf({ iss: "headroom" })).toBe(401);
  const made = await headroom(["keys", "service", "--id", "scoped"], {
    env: { ...env, DATABASE_URL: db.as("headroom_control").url },
  });
  const own = await fetch(`${url}/rest/v1/capacity_requests?select=id`, { headers: { apikey: made.out.trim() } });
  expect(own.status).toBe(200);
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
  expect(await server.end("SIGTERM")).toMatchObject({ status: 0 });
});
