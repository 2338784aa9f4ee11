/**
 * Every route of the application, and the credential without which it answers nothing. A route that is added later is covered
 * by what it declares; one that declares to need nothing must be entered below, with the reason.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { Credentials, RouteEntry } from "../../../src/http/route.ts";
import { startWorkflow } from "../capacity/workflow.ts";
import { memberToken, signToken, startTestGateway, storeWebhookSecrets } from "./gateway.ts";

const workflow = await startWorkflow(18);
const gateway = await startTestGateway(workflow.db, { dependencies: { sandbox: true } });
beforeAll(() => storeWebhookSecrets(workflow.db));
const { routes } = gateway.app;

/** What anybody may ask for, and why that is right. */
const open: Readonly<Record<string, string>> = {
  "GET /healthz": "probes have no secrets; it says nothing but that the process lives",
  "GET /readyz": "likewise",
  "GET /openapi.json": "the description of the API is public",
  "GET /": "leads there",
  "GET /docs": "likewise",
  "GET /confirm/:token": "the customer has nothing but the link; the token in it is the credential",
  "POST /confirm/:token": "likewise",
  "GET /auth/sign-in": "whoever signs in has no credential yet",
  "GET /auth/oidc/start": "likewise",
  "GET /auth/oidc/callback": "likewise; the provider's answer must fit what this browser began",
  "POST /auth/persona": "exists in the sandbox alone, where nothing is real",
  "POST /auth/sign-out": "takes a cookie away; ends sessions only of whoever is signed in",
};

const forged = await signToken({ role: "service_role", exp: 4_102_444_800 }, "another-secret-another-secret-another");
const expired = await signToken({ role: "service_role", exp: 1_000_000_000 });
const member = await memberToken("rita");
const { anonKey, serviceKey } = gateway.keys;

/** Each must be refused by a route of the kind. */
const refused: Readonly<Record<Credentials, Readonly<Record<string, Record<string, string>>>>> = {
  none: {},
  signature: {
    "no signature": {},
    "a member's token": { authorization: `Bearer ${member}` },
    "made-up signatures": {
      "x-slack-signature": "v0=00",
      "x-slack-request-timestamp": "1",
      "linear-signature": "00",
      "stripe-signature": "t=1,v1=00",
      "x-hub-signature-256": "sha256=00",
      "x-postal-signature": "AA==",
    },
  },
  apikey: {
    nothing: {},
    "a key that is none": { apikey: "nonsense" },
    "a forged key": { apikey: forged },
    "an expired key": { apikey: expired },
    "a good key and a forged token": { apikey: anonKey, authorization: `Bearer ${forged}` },
    "a good key and garbage": { apikey: anonKey, authorization: "Bearer abc.def" },
  },
  member: {
    nothing: {},
    "the anon key": { authorization: `Bearer ${anonKey}`, apikey: anonKey },
    "the service key": { authorization: `Bearer ${serviceKey}` },
    "a forged token": { authorization: `Bearer ${forged}` },
    "a made-up cookie": { cookie: "headroom_session=made.up; __Host-headroom_session=made.up" },
  },
  service: {
    nothing: {},
    "the anon key": { authorization: `Bearer ${anonKey}` },
    "a member's token": { authorization: `Bearer ${member}` },
    "a forged token": { authorization: `Bearer ${forged}` },
    "an expired token": { authorization: `Bearer ${expired}` },
  },
  "relay-secret": {
    nothing: {},
    "a wrong secret": { "x-outbox-secret": "wrong" },
    "the secret in another place": { authorization: "Bearer the-relay-secret-of-all-the-tests" },
    "the service key": { authorization: `Bearer ${serviceKey}`, "x-outbox-secret": serviceKey },
  },
};

function addressOf(route: RouteEntry): string {
  return `${gateway.url}${route.path.replaceAll(/:[a-zA-Z]+/g, "anything").replaceAll("*", "anything")}`;
}

function ask(route: RouteEntry, method: string, headers: Record<string, string>): Promise<Response> {
  const body = method === "GET" ? null : "{}";
  return fetch(addressOf(route), {
    method,
    body,
    redirect: "manual",
    headers: { "content-type": "application/json", ...headers },
  });
}

describe("each route", () => {
  for (const route of routes) {
    for (const method of route.methods) {
      const name = `${method} ${route.path}`;
      it(`${name} asks for: ${route.credentials}`, async () => {
        if (route.credentials === "none") expect(Object.keys(open)).toContain(name);
        const before = await workflow.size();
        for (const [what, headers] of Object.entries(refused[route.credentials])) {
          const response = await ask(route, method, headers);
          expect({ what, status: response.status }).toEqual({ what, status: 401 });
          expect(response.headers.get("content-type")).toMatch(/^application\/(problem\+)?json/);
          expect(response.headers.has("www-authenticate")).toBe(true);
        }
        expect(await workflow.size()).toEqual(before);
      });
    }
  }

  it("is declared once", () => {
    const names = routes.flatMap((route) => route.methods.map((method) => `${method} ${route.path}`));
    expect(new Set(names).size).toBe(names.length);
  });

  it("that is open exists", () => {
    const names = new Set(routes.flatMap((route) => route.methods.map((method) => `${method} ${route.path}`)));
    expect(Object.keys(open).filter((name) => !names.has(name))).toEqual([]);
  });
});

function whoami(token: string): Promise<Response> {
  return fetch(`${gateway.url}/rest/v1/capacity_requests?select=id`, {
    headers: { apikey: anonKey, authorization: `Bearer ${token}` },
  });
}

describe("a token", () => {
  it("is refused under any algorithm but HS256", async () => {
    const header = Buffer.from(JSON.stringify({ alg: "HS512", typ: "JWT" })).toString("base64url");
    const [, payload, signature] = serviceKey.split(".");
    expect((await whoami(`${header}.${payload}.${signature}`)).status).toBe(401);
  });

  it("is refused before its time and after it", async () => {
    expect((await whoami(await signToken({ role: "service_role", nbf: 4_000_000_000 }))).status).toBe(401);
    expect((await whoami(expired)).status).toBe(401);
    expect((await whoami(await signToken({ role: "service_role", nbf: 1_000_000_000 }))).status).toBe(200);
  });

  it("takes on none of the database's other roles", async () => {
    for (const role of ["headroom_owner", "postgres", "authenticator", "none", ""]) {
      const response = await whoami(await signToken({ role }));
      expect({ role, status: response.status }).toEqual({ role, status: 400 });
    }
  });

  it("is checked for audience and issuer where they are configured", async () => {
    await using strict = await startTestGateway(workflow.db, {
      dependencies: {
        keys: { ...gateway.keys, audience: "authenticated", issuers: ["headroom", "https://id.acme.example"] },
      },
    });
    const statusOf = async (claims: Record<string, unknown>): Promise<number> => {
      const token = await signToken({ role: "service_role", ...claims });
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${strict.url}/rest/v1/capacity_requests?select=id`, { headers })).status;
    };
    expect(await statusOf({ aud: "authenticated", iss: "https://id.acme.example" })).toBe(200);
    expect(await statusOf({ aud: ["x", "authenticated"], iss: "headroom" })).toBe(200);
    expect(await statusOf({ aud: "authenticated" })).toBe(401);
    expect(await statusOf({ iss: "headroom" })).toBe(401);
    expect(await statusOf({ aud: "others", iss: "headroom" })).toBe(401);
    expect(await statusOf({ aud: "authenticated", iss: "https://evil.example" })).toBe(401);
  });
});

function read(url: string, headers: Record<string, string>): Promise<Response> {
  return fetch(`${url}/rest/v1/capacity_requests?select=id&limit=1`, { headers });
}

describe("one address", () => {
  it("may use the anon key so often; members and machines there are not held up", async () => {
    await using limited = await startTestGateway(workflow.db, { dependencies: { now: () => 1_800_000_000_000 } });
    const statuses = new Set<number>();
    for (let turn = 0; turn < 120; turn += 1) statuses.add((await read(limited.url, { apikey: anonKey })).status);
    expect(statuses).not.toContain(429);
    const refusal = await read(limited.url, { apikey: anonKey });
    expect(refusal.status).toBe(429);
    expect(refusal.headers.get("retry-after")).toBe("1");
    expect((await read(limited.url, { apikey: serviceKey })).status).toBe(200);
    expect((await read(limited.url, { apikey: anonKey, authorization: `Bearer ${member}` })).status).toBe(200);
  });

  it("may try so many credentials that do not hold", async () => {
    await using limited = await startTestGateway(workflow.db, { dependencies: { now: () => 1_800_000_000_000 } });
    for (let turn = 0; turn < 120; turn += 1) {
      expect((await read(limited.url, { apikey: `guess-${turn}` })).status).toBe(401);
    }
    expect((await read(limited.url, { apikey: "guess" })).status).toBe(429);
    expect((await fetch(`${limited.url}/metrics`)).status).toBe(429);
    expect((await fetch(`${limited.url}/metrics`, { headers: { apikey: serviceKey } })).status).toBe(200);
  });
});

it("/metrics is open where the server is told that nobody from outside reaches it", async () => {
  await using inside = await startTestGateway(workflow.db, { dependencies: { metricsOpen: true } });
  expect((await fetch(`${inside.url}/metrics`)).status).toBe(200);
});
