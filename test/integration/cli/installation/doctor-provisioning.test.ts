/** `headroom doctor` about provisioning: what is connected, whether runs can report, and what GitHub lets us do. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { environmentOf } from "../../../../src/cli/commands/up/product.ts";
import { putMember, putWorkspace } from "../../../../src/directory/index.ts";
import { putCallbackSecret, putSettings, type JobSettingsChanges } from "../../../../src/provisioning/index.ts";
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
const sandbox = await startSandbox({
  secrets,
  sampleData: {
    ...defaultSampleData,
    githubRepositories: [
      { owner: "acme", repo: "infrastructure", workflows: ["provision.yml", "cleanup.yml"] },
      { owner: "acme", repo: "locked", workflows: ["provision.yml", "cleanup.yml"], lacks: ["actions=write"] },
    ],
  },
});
afterAll(() => sandbox.close());

const { GITHUB_TOKEN = "", GITHUB_API_URL = "" } = environmentOf(sandbox);
const env = { DATABASE_URL: db.url, HEADROOM_SECRET_KEY: secretKey, GITHUB_TOKEN, GITHUB_API_URL };

async function doctor(
  different: Readonly<Record<string, string>> = {},
  ...options: string[]
): Promise<Map<string, Finding>> {
  const outcome = await headroom(["doctor", "--json", ...options], { env: { ...env, ...different } });
  const { findings } = JSON.parse(outcome.out) as { findings: Finding[] };
  return new Map(findings.map((finding) => [finding.check, finding]));
}

async function connect(changes: JobSettingsChanges): Promise<void> {
  expect(await putSettings(db.pool, "default", changes)).toMatchObject({ outcome: "put" });
}

async function storeSecret(): Promise<void> {
  const client = await db.connect();
  expect(await putCallbackSecret(client, "default", { key: secretKey })).toMatchObject({ outcome: "stored" });
  await client.end();
}

beforeAll(async () => {
  await putMember(db.pool, "default", "casey", { roles: ["commercial"] });
  await storeSecret();
});

beforeEach(async () => {
  await putWorkspace(db.pool, "default", { publicUrl: "https://capacity.acme.example" });
  await db.superuser.pool.query("delete from provisioning.settings");
  await connect({ owner: "acme", repo: "infrastructure" });
});

test("a workspace whose runs can be started and can report is fine", async () => {
  const findings = await doctor();
  expect(findings.get("provisioning")).toMatchObject({
    status: "ok",
    message: "Capacity is provided by the workflows of acme/infrastructure at main.",
  });
  expect(findings.get("callback address")).toMatchObject({
    status: "ok",
    message: "Runs report to https://capacity.acme.example/webhooks/provisioning.",
  });
  expect(findings.get("callback secret")).toMatchObject({ status: "ok" });
  expect(findings.get("github")).toMatchObject({ status: "ok" });
});

test("a workspace without workflows gets a warning, since its requests wait", async () => {
  await db.superuser.pool.query("delete from provisioning.settings");
  const findings = await doctor();
  expect(findings.get("provisioning")).toMatchObject({
    status: "warning",
    message: expect.stringContaining('No workflow is connected in workspace "default"'),
    remedy: "Run: headroom jobs connect --workspace default --repo <owner/name>",
  });
  expect(findings.has("callback secret")).toBe(false);
});

test.each<[string, JobSettingsChanges, string, string, string]>([
  [
    "the workflow is not in the repository",
    { provisionWorkflow: "missing.yml" },
    "github",
    "There is no workflow missing.yml on the default branch of acme/infrastructure",
    "Add the file as .github/workflows/missing.yml",
  ],
  [
    "the token may not start runs",
    { repo: "locked" },
    "github",
    "The token lacks Actions: write in acme/locked",
    "Give the token Actions: write",
  ],
])("%s", async (_how, changes, check, message, remedy) => {
  await connect(changes);
  expect((await doctor()).get(check)).toMatchObject({
    status: "failure",
    message: expect.stringContaining(message),
    remedy: expect.stringContaining(remedy),
  });
});

test("runs would report without encryption, at an address that only the workspace can have set", async () => {
  await putWorkspace(db.pool, "default", { publicUrl: "http://capacity.example" });
  expect((await doctor()).get("callback address")).toMatchObject({
    status: "failure",
    message: expect.stringContaining(
      "are to report to http://capacity.example/webhooks/provisioning, and refuse to without https",
    ),
    remedy: expect.stringContaining("headroom jobs connect --workspace default --callback-url https://"),
  });
});

test("runs that have no address to report to, and one on this machine", async () => {
  await putWorkspace(db.pool, "default", { publicUrl: null });
  expect((await doctor()).get("callback address")).toMatchObject({
    status: "failure",
    message: expect.stringContaining("have no address to report to"),
  });
  await connect({ callbackUrl: "http://127.0.0.1:8400/webhooks/provisioning" });
  expect((await doctor()).get("callback address")).toMatchObject({ status: "ok" });
});

test("a secret that is missing, one sealed with another key, and one that this login cannot check", async () => {
  expect(
    (await doctor({ HEADROOM_SECRET_KEY: "another key, as long as the one that was used" })).get("callback secret"),
  ).toMatchObject({
    status: "failure",
    message: expect.stringContaining('does not decrypt the callback secret of workspace "default"'),
  });
  const elsewhere = await doctor({ HEADROOM_SECRET_KEY: "", GITHUB_TOKEN: "" });
  expect(elsewhere.get("callback secret")).toMatchObject({ status: "skipped" });
  await db.superuser.pool.query("delete from headroom.boxes where name = 'provisioning:default'");
  expect((await doctor()).get("callback secret")).toMatchObject({
    status: "failure",
    remedy: expect.stringContaining("headroom jobs secret --rotate --workspace default"),
  });
  await storeSecret();
});

test("workflows are connected, and no relay has GitHub's token", async () => {
  expect((await doctor({ GITHUB_TOKEN: "" })).get("github")).toMatchObject({
    status: "failure",
    message:
      'Workflows provide the capacity in workspace "default", but GITHUB_TOKEN is not set here, and no relay serves it.',
    remedy: expect.stringContaining("Set GITHUB_TOKEN in the relay's environment"),
  });
});

test("with --offline it asks GitHub nothing", async () => {
  const before = sandbox.requests.list().length;
  expect((await doctor({}, "--offline")).get("github")).toMatchObject({ status: "skipped" });
  expect(sandbox.requests.list()).toHaveLength(before);
});
