/** `headroom insights …`: the views of the log, as an operator and an auditor read them. */
import { beforeAll, expect, test } from "vitest";
import { createRequest, decide } from "../../../../src/capacity/index.ts";
import { putGroup, putMember, putWorkspace } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");
const env = { DATABASE_URL: control.url };

function insights(...parameters: string[]): Promise<Outcome> {
  return headroom(["insights", ...parameters], { env });
}

beforeAll(async () => {
  const { pool } = control;
  for (const workspace of ["default", "other"]) {
    await putWorkspace(pool, workspace, {});
    await putMember(pool, workspace, "ann", { roles: ["requester"] });
    await putMember(pool, workspace, "olga", { roles: ["commercial"] });
    await putMember(pool, workspace, "tom", {});
    await putGroup(pool, workspace, "infra", { add: ["tom"] });
  }
  const terms = {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "32XL",
    region: "us-east-1",
    quantity: 1,
  };
  const ids: string[] = [];
  for (const key of ["one", "two", "three"]) {
    const created = await createRequest(pool, { ...terms, idempotencyKey: key });
    if (created.outcome === "refused") throw new Error(created.message);
    ids.push(created.request.id);
  }
  const [first = "", second = ""] = ids;
  await decide(pool, first, { type: "COMMERCIAL_APPROVED" }, { as: "olga" });
  await decide(pool, second, { type: "COMMERCIAL_REJECTED", reason: "no budget" }, { as: "olga" });
});

test("the backlog shows what is open, and on whom it waits", async () => {
  const { out, status } = await insights("backlog");
  expect(status).toBe(0);
  expect(out).toMatch(/commercial +olga +1 +0/);
  expect(out).toMatch(/technical +group infra +2 +0/);
  const { rows } = JSON.parse((await insights("backlog", "--json")).out) as { rows: unknown[] };
  expect(rows).toHaveLength(2);
});

test("spans of days: approvals, time in state, outcomes, provisioning", async () => {
  expect((await insights("approvals")).out).toMatch(/commercial +people +1/);
  expect((await insights("time-in-state", "--days", "2")).out).toMatch(/UNDER_REVIEW +1/);
  const outcomes = JSON.parse((await insights("outcomes", "--json")).out) as { days: number; rows: unknown[] };
  expect(outcomes).toEqual({
    days: 30,
    rows: [
      {
        day: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
        outcome: "REJECTED",
        origin_state: "UNDER_REVIEW",
        event_type: "COMMERCIAL_REJECTED",
        requests: 1,
      },
    ],
  });
  expect((await insights("provisioning")).out).toContain("Nothing in workspace default in the last 30 days");
  const auditor = { DATABASE_URL: db.as("headroom_auditor").url };
  expect((await headroom(["insights", "outcomes"], { env: auditor })).out).toMatch(/REJECTED +UNDER_REVIEW/);
});

test("another workspace has its own numbers, and a misspelt one is refused", async () => {
  expect((await insights("backlog", "--workspace", "other")).out).toContain("No request is open in workspace other");
  expect((await insights("outcomes", "--workspace", "other")).out).toContain("Nothing in workspace other");
  expect(await insights("outcomes", "--workspace", "othre")).toMatchObject({
    status: 1,
    err: expect.stringContaining("There are: default, other"),
  });
});
