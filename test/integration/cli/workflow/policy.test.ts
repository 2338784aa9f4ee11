/** `headroom policy …`: approval rules and settings, and their effects. */
import { beforeAll, expect, test } from "vitest";
import { previewRequest, type RequestTerms } from "../../../../src/capacity/index.ts";
import { putGroup, putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");
const env = { DATABASE_URL: control.url };

async function policy(...parameters: string[]): Promise<Outcome> {
  return headroom(["policy", ...parameters], { env });
}

async function policyJson(...parameters: string[]) {
  const outcome = await policy(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

async function preview(terms: Pick<RequestTerms, "size" | "monthlyCostUsd"> & { readonly quantity?: number }) {
  const answer = await previewRequest(control.pool, { requester: "ann", region: "us-east-1", quantity: 1, ...terms });
  return answer.outcome === "refused" ? answer : answer.preview;
}

beforeAll(async () => {
  const { pool } = control;
  await putMember(pool, "default", "ann", { roles: ["requester"] });
  await putMember(pool, "default", "olga", { roles: ["commercial"] });
  await putMember(pool, "default", "vic", { roles: ["vp"] });
  await putMember(pool, "default", "tom", {});
  await putGroup(pool, "default", "infra", { add: ["tom"] });
});

test("rules of each kind are made and listed, and a preview follows them", async () => {
  expect((await policy("list")).out).toContain("There are no rules");
  expect(
    await policy("put", "our-owner", "--kind", "review_route", "--step", "commercial", "--approver", "olga"),
  ).toMatchObject({
    status: 0,
    err: "",
    out: expect.stringContaining("our-owner: always, commercial: asks olga."),
  });
  await policy("put", "all-infra", "--kind", "review_route", "--step", "technical", "--group", "infra");
  await policy("put", "vp-above", "--kind", "escalation", "--approver-role", "vp", "--min-cost", "10000");
  await policy(
    "put",
    "small",
    "--kind",
    "auto_approval",
    "--step",
    "both",
    "--size",
    "1XL",
    "2XL",
    "--max-cost",
    "99.50",
  );
  const plain = await policy("list");
  expect(plain.out).toMatch(
    /^small +auto_approval +both +100 +size 1XL or 2XL, cost to 99\.50 +approved automatically +on/m,
  );
  expect(plain.out).toMatch(/^vp-above +escalation +commercial +100 +cost from 10000 +needs the role vp +on/m);
  expect(plain.out).toMatch(/^all-infra +review_route +technical +100 +always +asks the group infra +on/m);
  expect(await preview({ size: "8XL", monthlyCostUsd: 500 })).toMatchObject({
    state: "UNDER_REVIEW",
    commercial: { owner: "olga", rule: "our-owner" },
    technical: { group: "infra", rule: "all-infra" },
  });
  expect(await preview({ size: "8XL", monthlyCostUsd: 10_000 })).toMatchObject({ commercial: { rule: "vp-above" } });
  expect(await preview({ size: "1XL", monthlyCostUsd: 20 })).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED" });
});

test("a rule is changed option by option, lifted by --no-…, switched off and removed", async () => {
  const named = await policyJson("put", "small", "--region", "us-east-1", "--rank", "5", "--description", "cheap");
  expect(named.answer.policy).toEqual({
    id: "small",
    kind: "auto_approval",
    step: "both",
    rank: 5,
    enabled: true,
    description: "cheap",
    sizes: ["1XL", "2XL"],
    regions: ["us-east-1"],
    minMonthlyCostUsd: null,
    maxMonthlyCostUsd: "99.50",
    maxQuantity: null,
    approverRole: null,
    approver: null,
    group: null,
  });
  const lifted = await policyJson("put", "small", "--no-size", "--no-max-cost", "--max-quantity", "2");
  expect(lifted.answer.policy).toMatchObject({ sizes: null, maxMonthlyCostUsd: null, maxQuantity: 2 });
  const terms = { size: "8XL", monthlyCostUsd: 500, quantity: 2 };
  expect(await preview(terms)).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED" });
  expect((await policy("put", "small", "--disable")).out).toContain("It is switched off.");
  expect(await preview(terms)).toMatchObject({ state: "UNDER_REVIEW" });
  expect((await policy("remove", "small")).out).toContain("The rule small was removed.");
  expect(await policyJson("remove", "small")).toMatchObject({ status: 1, answer: { error: { code: "not_found" } } });
});

test.each([
  [["put", "new", "--min-cost", "5"], 1, "kind"],
  [["put", "new", "--kind", "escalation"], 2, "--approver-role or --approver"],
  [
    ["put", "new", "--kind", "escalation", "--approver", "vic", "--approver-role", "vp"],
    2,
    "needs either --approver-role or --approver",
  ],
  [["put", "new", "--kind", "auto_approval"], 2, "--step"],
  [["put", "new", "--kind", "review_route", "--step", "technical"], 2, "--group"],
  [["put", "new", "--approver", "vic"], 2, "need --kind"],
  [["put", "new", "--min-cost", "lots"], 2, "amount in US dollars"],
  [["put", "vp-above", "--size", "3\u00d7L"], 1, "sizes: each of up to 32 letters"],
  [["put", "vp-above", "--region", "EU-West-1"], 1, "regions: each of 2 to 32 lower-case letters"],
  [["put", "vp-above", "--enable", "--disable"], 2, "cannot be used together"],
  [["settings", "--public-url", "ftp://x"], 1, "public_url"],
  [["settings", "--slack-channels", "#general"], 1, "slack_channel_ids"],
  [["settings", "--sla-hours", "0"], 2, "whole number from 1 to 8760"],
  [["settings", "--workspace", "labs", "--sla-hours", "3"], 1, "--create"],
])("%j is refused with an explanation", async (parameters, status, message) => {
  const outcome = await policy(...parameters);
  expect(outcome).toMatchObject({ status, out: "" });
  expect(outcome.err).toContain(message);
});

test("settings are shown, changed option by option, and emptied", async () => {
  expect((await policy("settings")).out).toMatch(/^a review may take +24 h$/m);
  const { answer } = await policyJson(
    "settings",
    "--name",
    "Acme",
    "--public-url",
    "https://capacity.example",
    "--slack-channel",
    "C024BE91L",
    "--slack-channels",
    "C0SALES",
    "C0LABS",
    "--linear-team",
    "team",
    "--sla-hours",
    "8",
    "--warn-hours",
    "12",
    "--remind-hours",
    "4",
    "--reminders",
    "0",
    "--nudge-minutes",
    "5",
    "--acts-per-hour",
    "50",
    "--slack-team",
    "T024BE7LD",
    "--no-slack-requesters",
  );
  expect(answer.workspace).toEqual({
    id: "default",
    name: "Acme",
    publicUrl: "https://capacity.example",
    slackChannelId: "C024BE91L",
    slackChannelIds: ["C0SALES", "C0LABS"],
    slackTeamId: "T024BE7LD",
    slackEnterpriseId: null,
    linearTeamId: "team",
    slackUsersBecomeRequesters: false,
    warnBeforeHours: 12,
    reviewSlaHours: 8,
    remindEveryHours: 4,
    mostReminders: 0,
    nudgeEveryMinutes: 5,
    actsPerHour: 50,
  });
  const plain = await policy(
    "settings",
    "--no-slack-channel",
    "--no-slack-channels",
    "--no-public-url",
    "--no-linear-team",
    "--slack-requesters",
    "--no-acts-per-hour",
  );
  expect(plain.out).toMatch(/^a member may notify others +at will$/m);
  expect(plain.out).toMatch(/^Slack channel +nothing is posted$/m);
  expect(plain.out).toMatch(/^further Slack channels +none$/m);
  expect(plain.out).toMatch(/^unknown Slack users +become requesters$/m);
  expect(plain.out).toMatch(/^a review may take +8 h$/m);
});

test("a workspace is created on request", async () => {
  const made = await policyJson("settings", "--workspace", "labs", "--create", "--name", "Labs");
  expect(made.answer.workspace).toMatchObject({ id: "labs", name: "Labs", reviewSlaHours: 24 });
});

test("states of Linear are chosen, shown, and removed", async () => {
  const chosen = await policy("linear-state", "PROVISIONING", "state-of-linear");
  expect(chosen).toMatchObject({ status: 0, err: "", out: expect.stringContaining("PROVISIONING is state-of-linear") });
  expect((await policy("linear-state")).out).toMatch(/PROVISIONING +state-of-linear\nCOMPLETED +the team's first/);
  expect(await policyJson("linear-state", "PROVISIONING", "--clear")).toEqual({
    status: 0,
    answer: { state: "PROVISIONING", linearStateId: null },
  });
  expect(await policyJson("linear-state")).toEqual({ status: 0, answer: { states: [] } });
});

test("a missing or invalid state of Linear is refused", async () => {
  expect(await policy("linear-state", "PROVISIONING")).toMatchObject({
    status: 2,
    err: expect.stringContaining("--clear"),
  });
  expect(await policy("linear-state", "FAILED", "x".repeat(65))).toMatchObject({
    status: 1,
    err: expect.stringContaining("1 to 64 characters"),
  });
  expect(await policy("linear-state", "--workspace", "nowhere")).toMatchObject({
    status: 1,
    err: expect.stringContaining("There are: default"),
  });
});
