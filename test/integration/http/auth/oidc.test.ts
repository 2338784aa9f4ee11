/**
 * Signing in at an identity provider, played by the sandbox: the whole path of a browser, and every way in which the provider's answer can
 * be wrong.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { putIdentity, putIdentityDomain, putMember, removeIdentity } from "../../../../src/directory/index.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { startTestGateway } from "../harness.ts";
import { Visitor } from "../visitor.ts";

const publicUrl = "http://headroom.test";
const sandbox = await startSandbox({
  sampleData: defaultSampleData,
  secrets: {
    slackSigningSecret: "s".repeat(32),
    linearWebhookSecret: "l".repeat(32),
    githubWebhookSecret: "g".repeat(32),
    stripeWebhookSecret: "whsec_s",
  },
});
afterAll(() => sandbox.close());
sandbox.connect({ headroomUrl: publicUrl });
const issuer = `${sandbox.url}/oidc`;

const db = await createTestDatabase();
const control = db.as("headroom_control").pool;
const gateway = await startTestGateway(db, {
  dependencies: {
    publicUrl,
    trustedProxies: 1,
    oidc: { issuer, clientId: "headroom", clientSecret: "headroom-sandbox-secret", name: "the sandbox" },
  },
});

beforeAll(async () => {
  await putMember(control, "default", "riley", { displayName: "Riley", email: "someone.else@example.org" });
  await putMember(control, "default", "casey", { displayName: "Casey", email: defaultSampleData.people[1]?.email });
  await putIdentity(control, { workspaceId: "default", memberId: "riley", issuer, subject: "riley" });
});
beforeEach(() => sandbox.reset());

/** Goes to the provider, and returns the address to which the provider sends the browser back. */
async function leave(visitor: Visitor, person: string, start = "/auth/oidc/start?return_to=/docs"): Promise<string> {
  const leaving = await visitor.get(start);
  expect(leaving.status).toBe(303);
  const asked = new URL(leaving.headers.get("location") ?? "");
  const picked = await fetch(asked, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `${asked.searchParams.toString()}&person=${person}`,
  });
  const back = new URL(picked.headers.get("location") ?? "");
  expect(back.origin).toBe(publicUrl);
  return `${back.pathname}${back.search}`;
}

describe("a member signs in at the provider", () => {
  test("with PKCE, state and nonce, and comes back to where they wanted to go", async () => {
    const visitor = new Visitor(gateway.url);
    expect(await (await visitor.get("/auth/sign-in?return_to=/docs")).text()).toContain("Sign in with the sandbox");
    const leaving = new URL((await visitor.get("/auth/oidc/start")).headers.get("location") ?? "");
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(leaving.searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    }
    const response = await visitor.get(await leave(visitor, "riley"));
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/docs");
    expect([...visitor.cookies.keys()]).toEqual(["headroom_session"]);
    expect(await visitor.json("/auth/me")).toMatchObject({ memberId: "riley", workspaceId: "default" });
  });

  test("by a rule for the domain of a verified address, which links the account permanently", async () => {
    const first = new Visitor(gateway.url);
    expect((await first.get(await leave(first, "casey"))).status).toBe(403);
    const [, domain = ""] = (defaultSampleData.people[1]?.email ?? "").split("@");
    await putIdentityDomain(control, { workspaceId: "default", issuer, domain });
    const second = new Visitor(gateway.url);
    expect((await second.get(await leave(second, "casey"))).status).toBe(303);
    expect(await second.json("/auth/me")).toMatchObject({ memberId: "casey" });
  });

  test("and is signed out, in every browser, when the link is removed", async () => {
    const subject = "vera";
    await putMember(control, "default", "morgan", {});
    await putIdentity(control, { workspaceId: "default", memberId: "morgan", issuer, subject });
    const visitor = new Visitor(gateway.url);
    expect((await visitor.get(await leave(visitor, subject))).status).toBe(303);
    await removeIdentity(control, { issuer, subject });
    expect((await visitor.get("/auth/me")).status).toBe(401);
    const again = new Visitor(gateway.url);
    const refused = await again.get(await leave(again, subject));
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("not linked to an active member");
    expect(again.cookies.size).toBe(0);
  });
});

describe("nobody is signed in", () => {
  test("who refuses at the provider", async () => {
    const visitor = new Visitor(gateway.url);
    const response = await visitor.get(await leave(visitor, ""));
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("did not sign you in");
    expect(visitor.cookies.size).toBe(0);
  });

  test("by a link that another person began: the code of another browser is worthless here", async () => {
    const attacker = new Visitor(gateway.url);
    const link = await leave(attacker, "riley");
    const victim = new Visitor(gateway.url);
    expect((await victim.get(link)).status).toBe(400);
    await victim.get("/auth/oidc/start");
    expect((await victim.get(link)).status).toBe(400);
    expect(victim.cookies.size).toBe(0);
  });

  test("by the same answer twice", async () => {
    const visitor = new Visitor(gateway.url);
    const link = await leave(visitor, "riley");
    const flow = new Map(visitor.cookies);
    expect((await visitor.get(link)).status).toBe(303);
    visitor.cookies.clear();
    for (const [name, value] of flow) visitor.cookies.set(name, value);
    expect((await visitor.get(link)).status).toBe(400);
  });

  test.each([
    ["another state", (url: URL) => url.searchParams.set("state", "x")],
    ["no state", (url: URL) => url.searchParams.delete("state")],
    ["another issuer", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
    ["a code that was never given", (url: URL) => url.searchParams.set("code", "x")],
    ["two codes", (url: URL) => url.searchParams.append("code", "x")],
    ["nothing", (url: URL) => (url.search = "")],
  ])("by an answer with %s", async (_what, change) => {
    const visitor = new Visitor(gateway.url);
    const url = new URL(await leave(visitor, "riley"), publicUrl);
    change(url);
    const response = await visitor.get(`${url.pathname}${url.search}`);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
    expect((await visitor.get("/auth/me")).status).toBe(401);
  });

  test("while the provider fails, and the page says so; afterwards it works again", async () => {
    const visitor = new Visitor(gateway.url);
    const link = await leave(visitor, "riley");
    sandbox.faults.add({ provider: "oidc", method: "token", kind: "error500", times: 1 });
    const response = await visitor.get(link);
    expect(response.status).toBe(502);
    expect(await response.text()).toContain("identity provider did not answer");
    const later = new Visitor(gateway.url);
    expect((await later.get(await leave(later, "riley"))).status).toBe(303);
  });
});

test("code, state and account are not in the log", async () => {
  const visitor = new Visitor(gateway.url);
  const link = await leave(visitor, "riley");
  await visitor.get(link);
  const code = new URL(link, publicUrl).searchParams.get("code") ?? "";
  expect(code).not.toBe("");
  for (const secret of [code, "riley", visitor.cookies.get("headroom_session") ?? "?"]) {
    expect(JSON.stringify(gateway.log)).not.toContain(secret);
  }
});
