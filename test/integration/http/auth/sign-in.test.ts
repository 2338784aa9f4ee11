/** Signing in and out with a browser, in the sandbox and without: cookies, pages, and what other sites cannot do. */
import { describe, expect, test } from "vitest";
import { startWorkflow } from "../../capacity/harness.ts";
import { cookieIn, Visitor } from "../visitor.ts";
import { jwtSecret, memberToken, startTestGateway } from "../harness.ts";

const { db } = await startWorkflow(18);
let now = Date.now();
const sandbox = await startTestGateway(db, { dependencies: { sandbox: true, trustedProxies: 1, now: () => now } });
const plain = await startTestGateway(db, { dependencies: { trustedProxies: 1 } });
const secure = await startTestGateway(db, {
  dependencies: { sandbox: true, trustedProxies: 1, publicUrl: "https://headroom.example" },
});
const rotated = await startTestGateway(db, {
  dependencies: {
    sandbox: true,
    trustedProxies: 1,
    keys: {
      jwtSecret: "another secret, of thirty-two characters or more",
      previousJwtSecret: jwtSecret,
      anonKey: "anon",
      serviceKey: "service",
    },
  },
});

const signedInAs = async (member: string, gateway = sandbox): Promise<Visitor> => {
  const visitor = new Visitor(gateway.url);
  const response = await visitor.post("/auth/persona", { member: `acme/${member}` });
  expect(response.status).toBe(303);
  return visitor;
};

describe("the sandbox's picker", () => {
  test("offers every active member, and signs in as the chosen one", async () => {
    const visitor = new Visitor(sandbox.url);
    const page = await (await visitor.get("/auth/sign-in?return_to=/docs")).text();
    expect(page).toContain('value="acme/rita"');
    expect(page).toContain("globex/glen");
    expect(page).not.toContain("acme/gus");
    const response = await visitor.post("/auth/persona", { member: "acme/tess", return_to: "/docs" });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/docs");
    expect(await visitor.json("/auth/me")).toEqual({
      workspaceId: "acme",
      workspaceName: "Acme",
      memberId: "tess",
      name: "Tess",
      roles: ["requester"],
      groups: ["infra"],
    });
  });

  test.each(["acme/gus", "acme/nobody", "", "acme"])("does not sign in as %j", async (member) => {
    const visitor = new Visitor(sandbox.url);
    expect((await visitor.post("/auth/persona", { member })).status).toBe(404);
    expect((await visitor.get("/auth/me")).status).toBe(401);
  });

  test("does not exist outside the sandbox", async () => {
    const visitor = new Visitor(plain.url);
    expect((await visitor.post("/auth/persona", { member: "acme/rita" })).status).toBe(404);
    const page = await (await visitor.get("/auth/sign-in")).text();
    expect(page).not.toContain("acme/rita");
    expect(page).toContain("No identity provider is set up here");
    expect((await visitor.get("/auth/oidc/start")).status).toBe(503);
  });

  test.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
    "/.//evil.example",
    "/x/..//evil.example",
    "/%2e//evil.example",
  ])("leads nowhere but to our own pages (%j)", async (returnTo) => {
    const visitor = new Visitor(sandbox.url);
    const response = await visitor.post("/auth/persona", { member: "acme/rita", return_to: returnTo });
    expect(response.headers.get("location")).toBe("/auth/me");
  });
});

describe("the session cookie", () => {
  test("is out of reach of scripts and other sites, and with https bound to the host", async () => {
    const visitor = new Visitor(secure.url);
    const response = await visitor.post(
      "/auth/persona",
      { member: "acme/rita" },
      { origin: "https://headroom.example" },
    );
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-headroom_session=[^;]+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/);
    const [local = ""] = (
      await new Visitor(sandbox.url).post("/auth/persona", { member: "acme/rita" })
    ).headers.getSetCookie();
    expect(local).toMatch(/^headroom_session=[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
  });

  test("is not a token, and a token is not a cookie", async () => {
    const visitor = await signedInAs("ada");
    const cookie = cookieIn(visitor, "headroom_session");
    const asBearer = await fetch(`${sandbox.url}/auth/me`, { headers: { authorization: `Bearer ${cookie}` } });
    expect(asBearer.status).toBe(401);
    const asCookie = await fetch(`${sandbox.url}/auth/me`, {
      headers: { cookie: `headroom_session=${await memberToken("ada")}` },
    });
    expect(asCookie.status).toBe(401);
  });

  test("that was changed, or is sent twice, signs nobody in", async () => {
    const visitor = await signedInAs("ada");
    const cookie = cookieIn(visitor, "headroom_session");
    const [header, payload = "", signature] = cookie.split(".");
    const forged = Buffer.from(payload, "base64url").toString().replace("ada", "bob");
    for (const value of [
      `${header}.${Buffer.from(forged).toString("base64url")}.${signature}`,
      `${cookie}; headroom_session=${cookie}`,
      "",
      "x".repeat(5000),
    ]) {
      const response = await fetch(`${sandbox.url}/auth/me`, { headers: { cookie: `headroom_session=${value}` } });
      expect(response.status).toBe(401);
    }
  });

  test("ends after twelve hours without use, is renewed by use, and ends after a week at the latest", async () => {
    const start = Date.now();
    now = start;
    const idle = await signedInAs("rita");
    const busy = await signedInAs("rita");
    const hour = 3_600_000;
    now = start + 11 * hour;
    expect((await busy.get("/auth/me")).status).toBe(200);
    now = start + 13 * hour;
    expect((await idle.get("/auth/me")).status).toBe(401);
    for (let passed = 13; passed <= 167; passed += 11) {
      now = start + passed * hour;
      expect((await busy.get("/auth/me")).status).toBe(200);
    }
    now = start + 169 * hour;
    expect((await busy.get("/auth/me")).status).toBe(401);
    now = Date.now();
  });

  test("survives a change of the secret, while the previous one is still accepted", async () => {
    const visitor = await signedInAs("rita");
    const cookie = `headroom_session=${cookieIn(visitor, "headroom_session")}`;
    expect((await fetch(`${rotated.url}/auth/me`, { headers: { cookie } })).status).toBe(200);
    const authorization = `Bearer ${await memberToken("rita")}`;
    expect((await fetch(`${rotated.url}/auth/me`, { headers: { authorization } })).status).toBe(200);
    const renewed = await signedInAs("rita", rotated);
    const newer = `headroom_session=${cookieIn(renewed, "headroom_session")}`;
    expect((await fetch(`${sandbox.url}/auth/me`, { headers: { cookie: newer } })).status).toBe(401);
  });

  test("is no longer valid once the member is removed, even after they come back", async () => {
    const visitor = await signedInAs("carl");
    await db.as("headroom_control").pool.query("select directory.remove_member('acme', 'carl')");
    expect((await visitor.get("/auth/me")).status).toBe(401);
    await db.as("headroom_control").pool.query("select directory.put_member('acme', 'carl', '{\"active\": true}')");
    expect((await visitor.get("/auth/me")).status).toBe(401);
    expect((await (await signedInAs("carl")).get("/auth/me")).status).toBe(200);
  });
});

describe("signing out", () => {
  test("removes the cookie", async () => {
    const visitor = await signedInAs("rita");
    const response = await visitor.post("/auth/sign-out", {});
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("You are signed out");
    expect((await visitor.get("/auth/me")).status).toBe(401);
  });

  test("everywhere ends the sessions of all browsers, but not later ones", async () => {
    const [here, there, other] = [await signedInAs("tim"), await signedInAs("tim"), await signedInAs("tess")];
    expect((await here.post("/auth/sign-out", { everywhere: "yes" })).status).toBe(200);
    const refused = await there.get("/auth/me", { accept: "application/json" });
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ code: "not_signed_in", title: "You were signed out." });
    expect((await other.get("/auth/me")).status).toBe(200);
    expect((await (await signedInAs("tim")).get("/auth/me")).status).toBe(200);
  });

  test.each([{ "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "", origin: "https://evil.example" }])(
    "cannot be triggered by another site (%j)",
    async (headers) => {
      const visitor = await signedInAs("rita");
      expect((await visitor.post("/auth/sign-out", { everywhere: "yes" }, headers)).status).toBe(403);
      expect((await visitor.post("/auth/persona", { member: "acme/ada" }, headers)).status).toBe(403);
      expect((await visitor.json("/auth/me"))["memberId"]).toBe("rita");
    },
  );
});

describe("the signed-in member", () => {
  test("is shown as a page to a browser, which is sent to sign in when nobody is", async () => {
    const visitor = await signedInAs("ada");
    expect(await (await visitor.get("/auth/me")).text()).toContain("Signed in as Ada");
    const stranger = await new Visitor(sandbox.url).get("/auth/me");
    expect(stranger.status).toBe(401);
    expect(await stranger.text()).toContain('href="/auth/sign-in?return_to=%2Fauth%2Fme"');
  });

  test("is returned as JSON to a program with a token", async () => {
    const authorization = `Bearer ${await memberToken("vera")}`;
    const response = await fetch(`${plain.url}/auth/me`, { headers: { authorization } });
    expect(await response.json()).toMatchObject({ memberId: "vera", roles: ["vp"] });
  });

  test("is nobody for a service key, which acts for members but is not one", async () => {
    const authorization = `Bearer ${plain.keys.serviceKey}`;
    expect((await fetch(`${plain.url}/auth/me`, { headers: { authorization } })).status).toBe(401);
  });
});
