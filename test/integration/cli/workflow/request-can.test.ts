/** `headroom request can` against a real database, as the operators' role. */
import { beforeAll, expect, test } from "vitest";
import { createRequest } from "../../../../src/capacity/index.ts";
import { putGroup, putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");

async function request(...parameters: string[]): Promise<Outcome> {
  return headroom(["request", ...parameters], { env: { DATABASE_URL: control.url } });
}

beforeAll(async () => {
  await putMember(control.pool, "default", "ann", { roles: ["requester"] });
  await putMember(control.pool, "default", "olga", { displayName: "Olga O", roles: ["commercial"] });
  await putMember(control.pool, "default", "tom", { roles: ["operator"] });
  await putGroup(control.pool, "default", "infra", { add: ["tom"] });
});

test("shows what a member can do, why not, and who can", async () => {
  const created = await createRequest(control.pool, {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "32XL",
    quantity: 4,
    region: "us-east-1",
  });
  if (created.outcome === "refused") throw new Error(created.message);
  const { id } = created.request;
  const plain = await request("can", id, "--as", "ann");
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out).toMatch(/^ACTION +MAY +WHY +WHO CAN$/m);
  expect(plain.out).toMatch(/^approve_commercial +no +You cannot review your own request\. +Olga O$/m);
  expect(plain.out).toMatch(/^cancel +yes +- +-$/m);
  await request("approve", id, "--as", "tom");
  expect((await request("can", id, "--as", "tom")).out).toMatch(/^approve_technical +done +tom, 20/m);
  const answer: unknown = JSON.parse((await request("can", id, "--as", "tom", "--json")).out);
  expect(answer).toContainEqual(
    expect.objectContaining({ action: "approve_technical", repeated: true, decidedBy: "tom" }),
  );
});

test("tells nothing of a request that is not there", async () => {
  const answer = await request("can", "CR-2026-999999", "--as", "tom");
  expect(answer).toMatchObject({ status: 1, out: "" });
  expect(answer.err).toContain("There is no such request, or you may not see it.");
});
