/**
 * Random input to every route of the application, with and without credentials: a clear 4xx, no internals shown, nothing written, and the
 * server keeps running.
 */
import { once } from "node:events";
import { connect } from "node:net";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { readExposedSchema } from "../../../src/db/exposed.ts";
import type { RouteEntry } from "../../../src/http/route.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { memberToken, startTestGateway, storeWebhookSecrets } from "./harness.ts";

const workflow = await startWorkflow(18);
// The clock leaps, so that no rate limit keeps the requests from their handlers.
let clockMs = 1_800_000_000_000;
const gateway = await startTestGateway(workflow.db, {
  dependencies: { sandbox: true, now: () => (clockMs += 10_000) },
});
const { routes } = gateway.app;
const member = await memberToken("rita");

const credentials: readonly Record<string, string>[] = [
  {},
  { apikey: gateway.keys.anonKey },
  { apikey: gateway.keys.serviceKey, authorization: `Bearer ${gateway.keys.serviceKey}` },
  { apikey: gateway.keys.anonKey, authorization: `Bearer ${member}` },
  { "x-outbox-secret": "the-relay-secret-of-all-the-tests" },
];

const functionNames: string[] = [];

beforeAll(async () => {
  await storeWebhookSecrets(workflow.db);
  await workflow.create();
  const rows = await rowsOf<{ name: string }>(
    workflow.superuser,
    `select distinct proname as name from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  );
  functionNames.push(...rows.map(({ name }) => name));
});

/** The number of rows of each of our tables. */
async function everything(): Promise<string> {
  const tables = await rowsOf<{ name: string }>(
    workflow.superuser,
    `select c.oid::regclass::text as name from pg_class c where c.relkind = 'r' and c.relnamespace::regnamespace::text
        in ('headroom', 'outbox', 'webhooks', 'payments', 'ledger', 'directory', 'capacity', 'inbound', 'public') order by 1`,
  );
  const counts = tables.map(({ name }) => `(select count(*) from ${name})`).join(" || ',' || ");
  return (await oneOf<{ counts: string }>(workflow.superuser, `select ${counts} as counts`)).counts;
}

const oddText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "",
    "null",
    "../../etc/passwd",
    "'; drop table capacity.requests; --",
    "$(id)",
    "%00",
    "%ff",
    "a".repeat(3_000),
  ),
);
const argument = fc.oneof(
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer(),
  fc.constantFrom(
    "acme",
    "rita",
    "infra",
    "CR-2026-000001",
    "user",
    "COMMERCIAL_APPROVED",
    "2027-01-01",
    1e300,
    -1,
    "\u0000",
    "\ud800",
  ),
);
const contentTypes = [
  "application/json",
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/octet-stream",
  "image/png",
  "multipart/form-data; boundary=x",
  "nonsense",
  "",
];
const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.json({ maxDepth: 4 }).map((text) => Buffer.from(text)),
  fc
    .dictionary(oddText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 })
    .map((value) => Buffer.from(JSON.stringify(value))),
  oddText.map((text) => Buffer.from(text)),
);

function pathOf(route: RouteEntry, part: string): string {
  return route.path.replaceAll(/:[a-zA-Z]+/g, encodeURIComponent(part) || "x").replaceAll("*", "x");
}

const internals =
  /node_modules|\.ts:\d|at async|capacity\.\w+\(|pg_catalog|stack|authenticator|password|ECONN|postgresql:/i;

/** What must hold for any answer. Returns whether the request was refused. */
async function examine(response: Response): Promise<boolean> {
  // A stream of events has no end to wait for.
  const endless = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (endless) await response.body?.cancel();
  const text = endless ? "" : await response.text();
  if (response.status < 400) return false;
  expect(response.status).toSatisfy((status: number) => status < 500 || status === 503);
  expect(text).not.toMatch(internals);
  const type = response.headers.get("content-type") ?? "";
  if (text === "" || type.startsWith("text/")) return true;
  const problem = JSON.parse(text) as Record<string, unknown>;
  expect(problem["code"]).toBeTypeOf("string");
  expect(problem).toHaveProperty(type.startsWith("application/problem+json") ? "title" : "message");
  return true;
}

const bodied = routes.filter((route) => route.methods.some((method) => method !== "GET"));

function send(route: RouteEntry, init: RequestInit, part = "x", query = ""): Promise<Response> {
  const method = route.methods.find((candidate) => candidate !== "GET") ?? "GET";
  return fetch(`${gateway.url}${pathOf(route, part)}${query}`, { method, redirect: "manual", ...init });
}

describe("random input", () => {
  for (const route of routes) {
    it(`is answered soundly by ${route.methods.join("/")} ${route.path}`, async () => {
      let before = await everything();
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...route.methods),
          fc.oneof(oddText, fc.constantFrom(...functionNames)),
          fc.dictionary(oddText, oddText, { maxKeys: 3 }),
          fc.constantFrom(...contentTypes),
          fc.constantFrom(...credentials),
          body,
          async (method, part, query, type, credential, bytes) => {
            const parameters = new URLSearchParams(query).toString();
            const response = await fetch(`${gateway.url}${pathOf(route, part)}?${parameters}`, {
              method,
              redirect: "manual",
              headers: { ...credential, ...(type === "" ? {} : { "content-type": type }) },
              ...(method === "GET" ? {} : { body: bytes }),
              signal: AbortSignal.timeout(20_000),
            });
            if (await examine(response)) return;
            // An accepted request may write; from here on the next refusal is compared.
            before = await everything();
          },
        ),
        { numRuns: 40 },
      );
      expect(await everything()).toBe(before);
    });
  }

  it("that is too large is refused by every route that takes a body", async () => {
    const before = await everything();
    const large = Buffer.alloc(10 * 1024 * 1024, "a");
    for (const route of bodied) {
      for (const headers of credentials) {
        const response = await send(route, { body: large, headers: { ...headers, "content-type": "text/plain" } });
        expect([400, 401, 403, 404, 405, 413, 415, 503]).toContain(response.status);
        await examine(response);
      }
    }
    expect(await everything()).toBe(before);
  });

  it("that is nested deeply is refused by every route that takes a body", async () => {
    const before = await everything();
    for (const text of ["[".repeat(100_000), `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`]) {
      for (const route of bodied) {
        for (const headers of credentials) {
          const init = { body: text, headers: { ...headers, "content-type": "application/json" } };
          expect(await examine(await send(route, init, "create_capacity_request"))).toBe(true);
        }
      }
    }
    expect(await everything()).toBe(before);
  });

  it("that is not UTF-8 is refused by functions, whatever they take", async () => {
    const before = await everything();
    const broken = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]);
    for (const name of functionNames) {
      for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
        const headers = { ...credentials[2], "content-type": type };
        const response = await fetch(`${gateway.url}/rest/v1/rpc/${name}`, { method: "POST", body: broken, headers });
        expect({ name, type, status: response.status }).toEqual({ name, type, status: 400 });
      }
    }
    expect(await everything()).toBe(before);
  });
});

describe("a function's own arguments", () => {
  it("of any kind are refused or accepted, and never a fault of ours", async () => {
    const schema = await readExposedSchema(workflow.db.superuser.pool, "public");
    const callable = schema.functions.filter(({ parameters }) => parameters.length > 0 && parameters[0]?.name !== null);
    const call = fc.constantFrom(...callable).chain(({ name, parameters }) => {
      const required = parameters.filter((parameter) => parameter.required).map((parameter) => parameter.name ?? "");
      const values = parameters.map((parameter) => [parameter.name ?? "", argument] as const);
      return fc.record({
        name: fc.constant(name),
        given: fc.record(Object.fromEntries(values), { requiredKeys: required }),
      });
    });
    let before = await everything();
    await fc.assert(
      fc.asyncProperty(call, fc.constantFrom(...credentials.slice(1, 4)), async ({ name, given }, credential) => {
        const response = await fetch(`${gateway.url}/rest/v1/rpc/${name}`, {
          method: "POST",
          headers: { ...credential, "content-type": "application/json" },
          body: JSON.stringify(given),
        });
        if (!(await examine(response))) before = await everything();
      }),
      { numRuns: 400 },
    );
    expect(await everything()).toBe(before);
  });
});

describe("a slow client", () => {
  it("that sends half a body and stops is disconnected, and nothing of it was done", async () => {
    const before = await everything();
    await using hasty = await startTestGateway(workflow.db, { server: { requestTimeoutMs: 150 } });
    const socket = connect(Number(new URL(hasty.url).port), "127.0.0.1");
    let received = "";
    socket.on("data", (piece: Buffer) => (received += piece.toString()));
    socket.write(
      `POST /rest/v1/rpc/run_capacity_request_timers HTTP/1.1\r\nhost: x\r\napikey: ${hasty.keys.serviceKey}\r\n` +
        `content-type: application/json\r\ncontent-length: 100\r\n\r\n{"`,
    );
    await once(socket, "close");
    expect(received).toMatch(/^HTTP\/1\.1 408 /);
    expect(await everything()).toBe(before);
  });

  it("that speaks another protocol is told so", async () => {
    const socket = connect(Number(new URL(gateway.url).port), "127.0.0.1");
    let received = "";
    socket.on("data", (piece: Buffer) => (received += piece.toString()));
    socket.write("\x16\x03\x01\x02\x00\r\n\r\n");
    await once(socket, "close");
    expect(received).toMatch(/^HTTP\/1\.1 400 [^]*"code":"invalid_input"/);
  });
});
