/** `headroom doctor` about money: Stripe's key and webhook, a public address, and the member who submits for the wizard. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { environmentOf } from "../../../../src/cli/commands/up/product.ts";
import { putSettings, setPrice } from "../../../../src/billing/index.ts";
import { putMember, putWorkspace, removeMember } from "../../../../src/directory/index.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox } from "../../../../src/sandbox/sandbox.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { secrets } from "../../sandbox/harness.ts";
import { headroom } from "../harness.ts";

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

const db = await createTestDatabase();
const secretKey = "a key to secrets that is long enough to be one";
const sandbox = await startSandbox({ secrets, sampleData: defaultSampleData });
afterAll(() => sandbox.close());

const { STRIPE_SECRET_KEY = "", STRIPE_API_URL = "" } = environmentOf(sandbox);
const env = { DATABASE_URL: db.url, HEADROOM_SECRET_KEY: secretKey, STRIPE_SECRET_KEY, STRIPE_API_URL };

async function doctor(different: Readonly<Record<string, string>> = {}, ...options: string[]) {
  const outcome = await headroom(["doctor", "--json", ...options], { env: { ...env, ...different } });
  const { findings } = JSON.parse(outcome.out) as { findings: Finding[] };
  return new Map(findings.map((finding) => [finding.check, finding]));
}

beforeAll(async () => {
  await putMember(db.pool, "default", "casey", { roles: ["commercial"] });
});

beforeEach(async () => {
  await db.superuser.pool.query("delete from billing.settings");
  await db.superuser.pool.query("delete from billing.prices");
  await putWorkspace(db.pool, "default", { publicUrl: "https://capacity.acme.example" });
});

async function price(): Promise<void> {
  const wanted = { size: "32XL", kind: "recurring", currency: "USD", unitAmount: 30_000 } as const;
  expect(await setPrice(db.pool, "default", wanted, "test")).toMatchObject({ outcome: "set" });
}

test("without prices nothing of Stripe is needed", async () => {
  const findings = await doctor({ STRIPE_SECRET_KEY: "", STRIPE_API_URL: "" });
  expect(findings.get("prices")).toMatchObject({ status: "ok", message: expect.stringContaining("without paying") });
  expect(findings.get("stripe")).toMatchObject({ status: "ok", message: expect.stringContaining("nothing needs it") });
  expect(findings.has("stripe webhook secret")).toBe(false);
  expect(findings.has("stripe webhook")).toBe(false);
  expect(findings.has("self-service")).toBe(false);
});

test("a price needs Stripe's key, and the secret of its webhook", async () => {
  await price();
  const findings = await doctor({ STRIPE_SECRET_KEY: "", STRIPE_API_URL: "" });
  expect(findings.get("prices")).toMatchObject({ status: "ok", message: 'Customers pay in workspace "default".' });
  expect(findings.get("stripe")).toMatchObject({
    status: "failure",
    message: expect.stringContaining('Customers pay in workspace "default", but STRIPE_SECRET_KEY is not set here'),
    remedy: expect.stringContaining("Set STRIPE_SECRET_KEY in the relay's environment"),
  });
  expect(findings.get("stripe webhook secret")).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("headroom secret set STRIPE_WEBHOOK_SECRET"),
  });
  expect((await doctor()).get("stripe")).toMatchObject({ status: "ok", message: expect.stringContaining("test mode") });
});

test("with the secret of its webhook stored, that is well", async () => {
  await price();
  const set = ["secret", "set", "STRIPE_WEBHOOK_SECRET"];
  expect(await headroom(set, { env, stdin: `whsec_${"s".repeat(32)}` })).toMatchObject({ status: 0 });
  expect((await doctor({}, "--offline")).get("stripe webhook secret")).toMatchObject({ status: "ok" });
});

test("a price without an address for customers to return to", async () => {
  await price();
  await putWorkspace(db.pool, "default", { publicUrl: null });
  expect((await doctor({}, "--offline")).get("prices")).toMatchObject({
    status: "failure",
    message: expect.stringContaining("has prices but no public address"),
    remedy: expect.stringContaining("headroom policy settings --workspace default --public-url"),
  });
});

test("a wizard in the name of a member who has left, and one with nothing to sell", async () => {
  await putMember(db.pool, "default", "sam", { roles: ["requester"] });
  await putSettings(db.pool, "default", { selfServiceRequester: "sam" });
  expect((await doctor({}, "--offline")).get("self-service")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("nothing has a price"),
  });
  await price();
  expect((await doctor({}, "--offline")).get("self-service")).toMatchObject({ status: "ok" });
  await removeMember(db.pool, "default", "sam");
  expect((await doctor({}, "--offline")).get("self-service")).toMatchObject({
    status: "failure",
    message: expect.stringContaining('submits as "sam", who is not an active member'),
    remedy: expect.stringContaining("headroom prices settings --workspace default --self-service <member>"),
  });
});
