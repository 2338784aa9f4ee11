/** What applies to every route: ids, limits, headers, problem details, draining. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/http/app.ts";
import type { HttpDependencies } from "../../../src/http/dependencies.ts";
import { createGatewayDatabase } from "../../../src/http/database/gateway-database.ts";
import { createTestDatabase } from "../../helpers/database.ts";
import { jwtSecret, startTestGateway } from "./harness.ts";
import { misnamed } from "../../helpers/metric-names.ts";

const db = await createTestDatabase();
const gateway = await startTestGateway(db);

describe("every answer", () => {
  it("has the request's id, which is the caller's own when it is harmless", async () => {
    const kept = await fetch(`${gateway.url}/healthz`, { headers: { "x-request-id": "abc-12345" } });
    expect(kept.headers.get("x-request-id")).toBe("abc-12345");
    const made = await fetch(`${gateway.url}/healthz`, { headers: { "x-request-id": "no good" } });
    expect(made.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("forbids content sniffing, framing and caching", async () => {
    const { headers } = await fetch(`${gateway.url}/healthz`);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("monitoring", () => {
  it("sees that the process answers, and the database too", async () => {
    expect(await (await fetch(`${gateway.url}/healthz`)).text()).toBe("ok\n");
    expect(await (await fetch(`${gateway.url}/readyz`)).text()).toBe("ok\n");
  });

  it("gets durations by route and never by path", async () => {
    await fetch(`${gateway.url}/nothing/secret-token-in-a-path`);
    const text = await (await fetch(`${gateway.url}/metrics`, { headers: { apikey: gateway.keys.serviceKey } })).text();
    expect(text).toContain('headroom_http_request_duration_seconds_count{method="GET",route="/healthz",status="200"}');
    expect(misnamed(text)).toEqual([]);
    expect(text).not.toContain("secret-token-in-a-path");
    expect(JSON.stringify(gateway.log)).not.toContain("secret-token-in-a-path");
  });
});

describe("an unknown address or method", () => {
  it("is a problem that says what to do", async () => {
    const response = await fetch(`${gateway.url}/nowhere`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ status: 404, code: "not_found", hint: expect.any(String) });
  });

  it("is a page for a browser, which explains a truncated confirmation link", async () => {
    const said: Readonly<Record<string, string>> = {
      "/nowhere": "There is nothing at this address.",
      "/confirm": "This link is incomplete.",
      "/confirm/": "This link is incomplete.",
    };
    for (const [path, words] of Object.entries(said)) {
      const response = await fetch(`${gateway.url}${path}`, { headers: { accept: "text/html,*/*;q=0.8" } });
      expect(response.status).toBe(404);
      expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await response.text()).toContain(`<h1>${words}</h1>`);
    }
  });

  it("lists the allowed methods", async () => {
    const response = await fetch(`${gateway.url}/healthz`, { method: "DELETE" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
  });
});

it("limits how often one address may call a public route, and says when to come back", async () => {
  await using limited = await startTestGateway(db, { dependencies: { now: () => 0 } });
  const answers = [];
  for (let turn = 0; turn < 201; turn += 1) answers.push(await limited.app.fetch(new Request("http://x/healthz")));
  expect(answers.slice(0, 200).every((response) => response.status === 200)).toBe(true);
  expect(answers.at(-1)?.status).toBe(429);
  expect(answers.at(-1)?.headers.get("retry-after")).toBe("1");
});

it("counts callers behind a trusted proxy by the address that the proxy saw, whatever they claim", async () => {
  await using behind = await startTestGateway(db, { dependencies: { now: () => 0, trustedProxies: 1 } });
  const ask = (forwarded: string) =>
    behind.app.fetch(new Request("http://x/healthz", { headers: { "x-forwarded-for": forwarded } }), {
      address: "10.0.0.1",
    });
  for (let turn = 0; turn < 200; turn += 1) await ask(`192.0.2.${turn}, 198.51.100.7`);
  expect((await ask("203.0.113.9, 198.51.100.7")).status).toBe(429);
  expect((await ask("198.51.100.7, 198.51.100.8")).status).toBe(200);
  // A value without an address in it is ignored.
  expect((await ask("203.0.113.9, 198.51.100.7, ")).status).toBe(429);
});

it("counts an IPv6 network as one caller, however many addresses it has", async () => {
  await using limited = await startTestGateway(db, { dependencies: { now: () => 0 } });
  const ask = (address: string) => limited.app.fetch(new Request("http://x/healthz"), { address });
  for (let turn = 0; turn < 200; turn += 1) await ask(`2001:db8:7:7::${turn.toString(16)}`);
  expect((await ask("2001:db8:7:7:ffff::1")).status).toBe(429);
  expect((await ask("2001:db8:7:8::1")).status).toBe(200);
});

it("disconnects a client that sends a byte and stops", async () => {
  await using hasty = await startTestGateway(db, { server: { headersTimeoutMs: 100, requestTimeoutMs: 100 } });
  const socket = connect(Number(new URL(hasty.url).port), "127.0.0.1");
  let received = "";
  socket.on("data", (piece: Buffer) => (received += piece.toString()));
  socket.write("G");
  await once(socket, "close");
  expect(received).toMatch(/^HTTP\/1\.1 408 [^]*application\/problem\+json[^]*"status":408/);
});

it("finishes running requests when it stops, and accepts no new ones", async () => {
  await using stopping = await startTestGateway(db);
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await using slow = await startTestGateway(db, {
    dependencies: {
      relay: {
        async metrics() {
          reach();
          await released;
          return "# the relay's\n";
        },
      },
    },
  });
  const asked = fetch(`${slow.url}/metrics`, { headers: { apikey: slow.keys.serviceKey } });
  await reached;
  const stopped = slow.stop();
  await expect(fetch(`${slow.url}/healthz`)).rejects.toThrow();
  release();
  expect(await (await asked).text()).toContain("# the relay's");
  await stopped;
  await stopping.stop();
  expect((await stopping.app.fetch(new Request("http://x/readyz"))).status).toBe(503);
});

it("tells a caller of /rest/v1 that something is not set up, and only the log what", async () => {
  await using bare = await startTestGateway(db);
  const response = await fetch(`${bare.url}/rest/v1/rpc/handle_linear_webhook`, {
    method: "POST",
    headers: { apikey: bare.keys.anonKey, "content-type": "text/plain", "linear-signature": "0".repeat(64) },
    body: JSON.stringify({ webhookTimestamp: Date.now() }),
  });
  expect(response.status).toBe(503);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ code: "PT503", details: "not_configured" });
  expect(text).not.toContain("LINEAR_WEBHOOK_SECRET");
  expect(JSON.stringify(bare.log)).toContain("LINEAR_WEBHOOK_SECRET");
});

it("prepares nothing by name where the pooler does not support it, even for one row of many", async () => {
  await db.superuser.pool.query("create function public.some_rows() returns setof int stable return 1");
  await db.superuser.pool.query("grant execute on function public.some_rows() to anon");
  const pooled = createGatewayDatabase({ url: db.as("authenticator").url, maxConnections: 1, prepare: false });
  await using plain = await startTestGateway(db, { dependencies: { database: pooled } });
  const response = await fetch(`${plain.url}/rest/v1/rpc/some_rows`, {
    headers: { apikey: plain.keys.anonKey, accept: "application/vnd.pgrst.object+json" },
  });
  expect(response.status).toBe(200);
  expect((await pooled.ask({ text: "select name from pg_prepared_statements" })).rows).toEqual([]);
  await pooled.close();
});

it("still prepares other callers' statements, however many ways there are to call one function", async () => {
  const names = Array.from({ length: 10 }, (_, place) => `p${place}`);
  await db.superuser.pool.query(
    `create function public.many_ways(${names.map((name) => `${name} integer default 0`).join(", ")}) returns integer language sql stable as 'select 1';
     create function public.is_prepared() returns boolean language sql stable
       as $$ select exists (select from pg_prepared_statements where statement like '%"is_prepared"%') $$;
     grant execute on function public.many_ways, public.is_prepared to service_role`,
  );
  await using single = await startTestGateway(db, { database: { maxConnections: 1 } });
  const call = (path: string) =>
    fetch(`${single.url}/rest/v1/rpc/${path}`, { headers: { apikey: single.keys.serviceKey } });
  for (let way = 0; way < 600; way += 1) {
    const given = names.filter((_, place) => (way & (1 << place)) !== 0).map((name) => `${name}=1`);
    expect((await call(`many_ways?${given.join("&")}`)).status).toBe(200);
  }
  // A statement that comes once is not worth preparing.
  expect(await (await call("is_prepared")).json()).toBe(false);
  expect(await (await call("is_prepared")).json()).toBe(true);
});

it("does not start with a secret that can be guessed", async () => {
  const keys = { jwtSecret, anonKey: "a", serviceKey: "b" };
  const database = createGatewayDatabase({ url: db.as("authenticator").url });
  const begin = (more: Partial<HttpDependencies>) => () =>
    createApp({ database, keys, publicUrl: "http://127.0.0.1", log: () => undefined, ...more });
  expect(begin({})).not.toThrow();
  expect(begin({ relaySecret: "" })).toThrow("HEADROOM_RELAY_SECRET");
  expect(begin({ relaySecret: "s".repeat(31) })).toThrow("shorter than 32 characters");
  expect(begin({ keys: { ...keys, previousJwtSecret: "short" } })).toThrow("shorter than 32 characters");
  expect(begin({ keys: { ...keys, jwtSecret: "" } })).toThrow("shorter than 32 characters");
  await database.close();
});
