/**
 * `headroom keys …` and how members sign in: keys from the command line work at the real server, and stop working when they are revoked.
 */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { putGroup, putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { jwtSecret, startTestGateway } from "../../http/harness.ts";
import { headroom } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");
const gateway = await startTestGateway(db);
const folder = await mkdtemp(join(tmpdir(), "headroom-keys-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const env = { DATABASE_URL: control.url, HEADROOM_JWT_SECRET: jwtSecret };

beforeAll(async () => {
  await putMember(control.pool, "default", "ann", { displayName: "Ann" });
});

const json = async (...parameters: string[]) => {
  const outcome = await headroom([...parameters, "--json"], { env });
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
};

const me = (token: string) => fetch(`${gateway.url}/auth/me`, { headers: { authorization: `Bearer ${token}` } });

const rpc = (name: string, key: string, body: unknown) =>
  fetch(`${gateway.url}/rest/v1/rpc/${name}`, {
    method: "POST",
    headers: { apikey: gateway.keys.anonKey, authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("the help marks required options, and gives defaults in words", async () => {
  const { out } = await headroom(["keys", "token", "--help"]);
  expect(out).toMatch(/--member <id> +whose key it is \(required\)/);
  expect(out).toContain("(default: 30d)");
  expect((await headroom(["keys", "service", "--help"])).out.replace(/\s+/g, " ")).toContain(
    "(default: until it is revoked)",
  );
});

describe("keys init", () => {
  test("makes every secret that an installation needs, without a database", async () => {
    const outcome = await headroom(["keys", "init"]);
    expect(outcome).toMatchObject({ status: 0, err: "" });
    const values = Object.fromEntries(
      outcome.out
        .trim()
        .split("\n")
        .map((line) => line.split("=", 2) as [string, string]),
    );
    expect(Object.keys(values)).toEqual([
      "HEADROOM_JWT_SECRET",
      "HEADROOM_ANON_KEY",
      "HEADROOM_SERVICE_KEY",
      "HEADROOM_SECRET_KEY",
      "HEADROOM_RELAY_SECRET",
    ]);
    const secret = new TextEncoder().encode(values["HEADROOM_JWT_SECRET"]);
    expect((await jwtVerify(values["HEADROOM_ANON_KEY"] ?? "", secret)).payload["role"]).toBe("anon");
    expect((await jwtVerify(values["HEADROOM_SERVICE_KEY"] ?? "", secret)).payload).toMatchObject({
      role: "service_role",
      key_id: expect.stringMatching(/^service-/),
    });
    expect(values["HEADROOM_SECRET_KEY"]).toMatch(/^[\w-]{43}$/);
  });

  test("writes a file that only its owner can read, and never overwrites one", async () => {
    const file = join(folder, "keys.env");
    const outcome = await headroom(["keys", "init", "--out", file]);
    expect(outcome).toMatchObject({ status: 0, err: "" });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readFile(file, "utf8");
    expect(outcome.out).not.toContain(/=(.+)/.exec(before)?.[1]);
    const again = await headroom(["keys", "init", "--out", file]);
    expect(again.status).toBe(2);
    expect(again.err).toContain("already exists. Nothing was changed.");
    expect(await readFile(file, "utf8")).toBe(before);
  });
});

describe("keys token", () => {
  test("makes a key that acts as its member, alone on standard output, until it is revoked", async () => {
    const outcome = await headroom(["keys", "token", "--member", "ann", "--id", "ann-laptop", "--ttl", "12h"], { env });
    expect(outcome.status).toBe(0);
    expect(outcome.err).toMatch(/^Valid until .+Z\. To revoke it: headroom keys revoke ann-laptop\n$/);
    const token = outcome.out.trim();
    expect(await (await me(token)).json()).toMatchObject({ memberId: "ann" });
    const { exp = 0, iat = 0 } = decodeJwt(token);
    expect(Math.abs(exp - iat - 12 * 3600)).toBeLessThanOrEqual(1);

    expect((await headroom(["keys", "revoke", "ann-laptop"], { env })).out).toContain("ann-laptop is revoked");
    const refused = await me(token);
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ code: "not_signed_in", title: "This key was revoked." });
    const overRest = await rpc("who_am_i", token, {});
    expect(overRest.status).toBe(401);
    expect((await headroom(["keys", "list"], { env })).out).toMatch(/^ann-laptop +default\/ann +revoked /m);
  });

  test.each([
    [["--member", "nobody"], 1, "no active member"],
    [["--member", "ann", "--ttl", "soon"], 2, "Give a time such as"],
    [["--member", "ann", "--ttl", "0d"], 2, "Give a time such as"],
    [["--member", "ann", "--id", "not good"], 1, "The id of a key"],
    [["--member", "ann", "--id", "ann-laptop"], 1, "There is already a key"],
    [[], 2, "--member"],
  ])("%j is refused with an explanation, and no key is shown", async (parameters, status, message) => {
    const outcome = await headroom(["keys", "token", ...parameters], { env });
    expect(outcome).toMatchObject({ status, out: "" });
    expect(outcome.err).toContain(message);
  });

  test("needs the secret that the server checks with", async () => {
    const outcome = await headroom(["keys", "token", "--member", "ann"], { env: { DATABASE_URL: control.url } });
    expect(outcome.status).toBe(2);
    expect(outcome.err).toContain("HEADROOM_JWT_SECRET");
  });
});

describe("keys anon", () => {
  test("signs a key that the server accepts after the secret has changed, without a database", async () => {
    const changed = { HEADROOM_JWT_SECRET: jwtSecret };
    const outcome = await headroom(["keys", "anon"], { env: changed });
    expect(outcome).toMatchObject({ status: 0, err: expect.stringContaining("HEADROOM_ANON_KEY") });
    const key = outcome.out.trim();
    expect(decodeJwt(key)).toMatchObject({ role: "anon", iss: "headroom" });
    const ask = (apikey: string) =>
      fetch(`${gateway.url}/rest/v1/rpc/describe_confirmation`, {
        method: "POST",
        headers: { apikey, "content-type": "application/json" },
        body: JSON.stringify({ token: "none" }),
      });
    expect((await ask(gateway.keys.anonKey)).status).toBe((await ask(key)).status);
    expect((await ask(key)).status).not.toBe(401);
    const old = await headroom(["keys", "anon", "--json"], {
      env: { HEADROOM_JWT_SECRET: "another-secret-of-32-characters-or-more" },
    });
    const { HEADROOM_ANON_KEY: other } = JSON.parse(old.out) as { HEADROOM_ANON_KEY: string };
    expect((await ask(other)).status).toBe(401);
  });

  test("says what is missing without a secret", async () => {
    const outcome = await headroom(["keys", "anon"], { env: {} });
    expect(outcome).toMatchObject({ status: 2, out: "", err: expect.stringContaining("HEADROOM_JWT_SECRET") });
  });
});

describe("keys service", () => {
  test("makes a key whose id the log names, and which is refused once it is revoked", async () => {
    const { answer } = await json("keys", "service", "--id", "billing", "--note", "the billing job");
    expect(answer).toMatchObject({ id: "billing", expiresAt: null });
    await putMember(control.pool, "default", "olga", { roles: ["commercial"] });
    await putMember(control.pool, "default", "tom", {});
    await putGroup(control.pool, "default", "infra", { add: ["tom"] });
    const created = await rpc("create_capacity_request", answer.token, {
      p_requester_user_id: "ann",
      p_commercial_owner_user_id: "olga",
      p_infra_owner_group: "infra",
      p_customer_ref: null,
      p_requested_size: "8XL",
      p_quantity: 1,
      p_region: "eu-west-1",
      p_needed_by_date: null,
      p_expected_duration_days: null,
    });
    expect(created.status).toBe(200);
    const { rows } = await db.superuser.pool.query("select distinct via from capacity.events");
    expect(rows).toEqual([{ via: "service:billing" }]);
    await headroom(["keys", "revoke", "billing"], { env });
    expect((await rpc("get_capacity_request", answer.token, { p_request_id: "CR-2026-000001" })).status).toBe(401);
  });
});

describe("how members sign in", () => {
  const issuer = "https://id.example.org";

  test("an account is linked, listed and unlinked", async () => {
    const account = ["--issuer", issuer, "--subject", "00u1"];
    expect((await headroom(["members", "identity", "list"], { env })).out).toContain("No account is linked");
    expect((await headroom(["members", "identity", "add", "ann", ...account], { env })).out).toBe(
      "ann signs in as 00u1 at https://id.example.org.\n",
    );
    expect((await headroom(["members", "identity", "list"], { env })).out).toMatch(/^ann +https:\S+ +00u1 +admin$/m);
    expect((await headroom(["members", "identity", "remove", ...account], { env })).out).toContain("ann was unlinked");
    expect((await headroom(["members", "identity", "remove", ...account], { env })).err).toContain(
      "No member is linked",
    );
    expect((await headroom(["members", "identity", "add", "zoe", ...account], { env })).err).toContain(
      "no active member",
    );
  });

  test("a domain is trusted, listed and no longer trusted", async () => {
    const rule = ["example.org", "--issuer", issuer];
    expect((await json("members", "domain", "add", ...rule)).answer).toEqual({ issuer, domain: "example.org" });
    expect((await headroom(["members", "domain", "list"], { env })).out).toMatch(/^example\.org +https:\S+ +0$/m);
    expect((await json("members", "domain", "remove", ...rule)).answer).toMatchObject({ unlinked: 0 });
    expect((await headroom(["members", "domain", "add", "not a domain", "--issuer", issuer], { env })).status).toBe(1);
    expect((await headroom(["members", "domain", "add", "a.org", "--issuer", "nonsense"], { env })).err).toContain(
      "The issuer is the address",
    );
  });
});
