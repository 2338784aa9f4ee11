/**
 * Every route of the application, and the credential without which it answers nothing. A route that is added later is covered by its
 * declaration; one that declares no credential must be entered below, with the reason.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { createCookieSessions } from "../../../src/http/auth/cookie-session.ts";
import type { Credentials, RouteEntry } from "../../../src/http/route.ts";
import { memberSession } from "../../../src/http/auth/session.ts";
import { startWorkflow } from "../capacity/harness.ts";
import { memberToken, signToken, startTestGateway, storeWebhookSecrets } from "./harness.ts";

const workflow = await startWorkflow(18);
const gateway = await startTestGateway(workflow.db, { dependencies: { sandbox: true, trustedProxies: 1 } });
beforeAll(() => storeWebhookSecrets(workflow.db));
const { routes } = gateway.app;

/** Public routes, and why each may be public. */
const open: Readonly<Record<string, string>> = {
  "GET /healthz": "probes have no secrets; it only says that the process is alive",
  "GET /readyz": "likewise",
  "GET /openapi.json": "the description of the API is public",
  "GET /": "leads there",
  "GET /docs": "likewise",
  "GET /confirm/:token": "the customer has only the link; the token in it is the credential",
  "POST /confirm/:token": "likewise",
  "GET /confirm/:token/pay": "likewise",
  "GET /paid/:checkout": "Stripe sends customers back to it; without their cookie it reveals nothing",
  "GET /new": "a visitor who orders has no account; the database limits what can be begun",
  "GET /new/:workspace": "likewise",
  "GET /new/:workspace/:token/:step": "likewise; the token is the credential",
  "POST /new/:workspace/:token/:step": "likewise; the order can only be sent by the link of a mail",
  "GET /unsubscribe/:token":
    "the recipient of the mail has only the link; the token can stop such mails, or resume them, and nothing else",
  "POST /unsubscribe/:token": "likewise; mail programs post it automatically",
  "POST /unsubscribe/:token/undo": "likewise; it undoes what the link stopped",
  "GET /auth/sign-in": "a person who signs in has no credential yet",
  "GET /auth/oidc/start": "likewise",
  "GET /auth/oidc/callback": "likewise; the provider's answer must match what this browser began",
  "POST /auth/persona": "exists only in the sandbox, where nothing is real",
  "POST /auth/sign-out": "removes a cookie; ends sessions only of the signed-in member",
};

const forged = await signToken({ role: "service_role", exp: 4_102_444_800 }, "another-secret-another-secret-another");
const expired = await signToken({ role: "service_role", exp: 1_000_000_000 });
const member = await memberToken("rita");
const { anonKey, serviceKey } = gateway.keys;

/** Valid in every respect, but revoked; used once before, so that a cache of verified ones would contain them. */
const lost = { key_id: "lost", exp: 4_102_444_800 };
const lostService = await signToken({ role: "service_role", ...lost });
const lostMember = await signToken({ ...memberSession({ workspaceId: "acme", memberId: "rita" }).claims, ...lost });
const cookies = createCookieSessions({ keys: gateway.keys, publicUrl: "http://127.0.0.1" }, Date.now);
const issued = await cookies.issue({ workspaceId: "acme", memberId: "rob", signedInAt: Date.now() / 1000 - 60 });
const signedOut = issued.slice(0, issued.indexOf(";"));

beforeAll(async () => {
  for (const [path, headers] of [
    ["/metrics", { authorization: `Bearer ${lostService}` }],
    ["/auth/me", { authorization: `Bearer ${lostMember}` }],
    ["/auth/me", { cookie: signedOut }],
  ] as const) {
    expect((await fetch(`${gateway.url}${path}`, { headers })).status).toBe(200);
  }
  await workflow.db.as("headroom_control").pool.query("select directory.revoke_api_key('lost')");
  await workflow.superuser.query("update directory.members set signed_out_at = now() where id = 'rob'");
});

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
    "an invalid key": { apikey: "nonsense" },
    "a forged key": { apikey: forged },
    "an expired key": { apikey: expired },
    "a valid key and a forged token": { apikey: anonKey, authorization: `Bearer ${forged}` },
    "a valid key and garbage": { apikey: anonKey, authorization: "Bearer abc.def" },
    "a revoked key": { apikey: lostService },
    "a valid key and a revoked token": { apikey: anonKey, authorization: `Bearer ${lostMember}` },
    "a revoked key and a valid token": { apikey: lostMember, authorization: `Bearer ${member}` },
  },
  member: {
    nothing: {},
    "the anon key": { authorization: `Bearer ${anonKey}`, apikey: anonKey },
    "the service key": { authorization: `Bearer ${serviceKey}` },
    "a forged token": { authorization: `Bearer ${forged}` },
    "a made-up cookie": { cookie: "headroom_session=made.up; __Host-headroom_session=made.up" },
    "a revoked token": { authorization: `Bearer ${lostMember}` },
    "the cookie of a member who was signed out": { cookie: signedOut, "sec-fetch-site": "same-origin" },
  },
  service: {
    nothing: {},
    "the anon key": { authorization: `Bearer ${anonKey}` },
    "a member's token": { authorization: `Bearer ${member}` },
    "a forged token": { authorization: `Bearer ${forged}` },
    "an expired token": { authorization: `Bearer ${expired}` },
    "a revoked key": { authorization: `Bearer ${lostService}` },
    "a revoked key in the other place": { apikey: lostService },
  },
  "relay-secret": {
    nothing: {},
    "a wrong secret": { "x-outbox-secret": "wrong" },
    "the secret in another place": { authorization: "Bearer the-relay-secret-of-all-the-tests" },
    "the service key": { authorization: `Bearer ${serviceKey}`, "x-outbox-secret": serviceKey },
  },
};

/** Existing things, so that nothing is refused for not existing. */
const there: Readonly<Record<string, string>> = { ":function": "who_am_i", ":relation": "capacity_requests" };

function addressOf(route: RouteEntry): string {
  return `${gateway.url}${route.path.replaceAll(/:[a-zA-Z]+|\*/g, (name) => there[name] ?? "anything")}`;
}

let asked = 0;

function ask(route: RouteEntry, method: string, headers: Record<string, string>): Promise<Response> {
  const body = method === "GET" || method === "HEAD" ? null : "{}";
  return fetch(addressOf(route), {
    method,
    body,
    redirect: "manual",
    // From its own address, so that none is refused because of the others.
    headers: { "content-type": "application/json", "x-forwarded-for": `192.0.2.${(asked += 1) % 250}`, ...headers },
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
          if (method !== "GET") continue;
          const head = await ask(route, "HEAD", headers);
          expect({ what, head: head.status }).toEqual({ what, head: 401 });
        }
        expect(await workflow.size()).toEqual(before);
      });
    }
  }

  it("is declared once", () => {
    const names = routes.flatMap((route) => route.methods.map((method) => `${method} ${route.path}`));
    expect(new Set(names).size).toBe(names.length);
  });

  it("that is public exists", () => {
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

describe("one member", () => {
  it("who did more than they may of what notifies others is refused with 429, and told how long to wait", async () => {
    await using limited = await startTestGateway(workflow.db);
    const { id } = await workflow.create();
    const note = (): Promise<Response> =>
      fetch(`${limited.url}/rest/v1/rpc/note_capacity_request`, {
        method: "POST",
        headers: { apikey: anonKey, authorization: `Bearer ${member}`, "content-type": "application/json" },
        body: JSON.stringify({ p_request_id: id, p_body: "Please." }),
      });
    await workflow.superuser.query("update directory.workspaces set acts_per_hour = 1 where id = 'acme'");
    expect((await note()).status).toBe(200);
    const refusal = await note();
    await workflow.superuser.query("update directory.workspaces set acts_per_hour = 300 where id = 'acme'");
    expect(refusal.status).toBe(429);
    expect(refusal.headers.get("retry-after")).toMatch(/^3[56]\d\d$/);
    expect(await refusal.json()).toMatchObject({
      code: "PT429",
      details: expect.stringMatching(/^too_soon: again in /),
    });
  });
});

describe("one address", () => {
  it("may use the anon key so often; members and machines there are not affected", async () => {
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

  it("may try so many invalid credentials", async () => {
    await using limited = await startTestGateway(workflow.db, { dependencies: { now: () => 1_800_000_000_000 } });
    for (let turn = 0; turn < 120; turn += 1) {
      expect((await read(limited.url, { apikey: `guess-${turn}` })).status).toBe(401);
    }
    expect((await read(limited.url, { apikey: "guess" })).status).toBe(429);
    expect((await fetch(`${limited.url}/metrics`)).status).toBe(429);
    expect((await fetch(`${limited.url}/metrics`, { headers: { apikey: serviceKey } })).status).toBe(200);
  });
});

it("/metrics is open where the server is told that it is unreachable from outside", async () => {
  await using inside = await startTestGateway(workflow.db, { dependencies: { metricsOpen: true } });
  expect((await fetch(`${inside.url}/metrics`)).status).toBe(200);
});
