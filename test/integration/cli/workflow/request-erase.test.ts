/** `headroom request erase` against a real database, as the operators' role. */
import { beforeAll, expect, test } from "vitest";
import { createRequest, decide } from "../../../../src/capacity/index.ts";
import { putGroup, putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");

async function request(...parameters: string[]): Promise<Outcome> {
  return headroom(["request", ...parameters], { env: { DATABASE_URL: control.url } });
}

/** A cancelled request of Initech's, with a reason that names them. */
async function cancelled(): Promise<string> {
  const created = await createRequest(control.pool, {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "32XL",
    quantity: 4,
    region: "us-east-1",
    customerRef: { name: "Initech" },
    customerId: "initech-gmbh",
  });
  if (created.outcome === "refused") throw new Error(created.message);
  const { id } = created.request;
  await decide(control.pool, id, { type: "CANCEL_APPROVED", reason: "Initech has no money" }, { as: "ann" });
  return id;
}

beforeAll(async () => {
  await putMember(control.pool, "default", "ann", { roles: ["requester"] });
  await putMember(control.pool, "default", "olga", { roles: ["commercial"] });
  await putMember(control.pool, "default", "tom", { roles: ["operator"] });
  await putMember(control.pool, "default", "ada", { roles: ["admin"] });
  await putGroup(control.pool, "default", "infra", { add: ["tom"] });
});

test("erases, says what is gone and what stays, and show reports it from then on", async () => {
  const id = await cancelled();
  expect((await request("show", id)).out).toContain("Initech has no money");
  const erased = await request("erase", id, "--reason", "asked to", "--as", "ada", "--yes");
  expect(erased).toMatchObject({ status: 0, err: "" });
  expect(erased.out).toMatch(new RegExp(`^${id}: customer erased by ada at \\S+Z\\.$`, "m"));
  expect(erased.out).toContain("Because: asked to");
  expect(erased.out).toContain("Erased so far: 0 messages, and 1 text that people wrote.");
  const shown = await request("show", id);
  expect(shown.out).not.toMatch(/initech/i);
  expect(shown.out).toMatch(/^customer's id +[0-9a-f]{64}$/m);
  expect(shown.out).toMatch(/^customer +erased by ada at /m);
  expect(shown.out).toMatch(/^cancelled because +\(erased\)$/m);
  const verified = await headroom(["verify"], { env: { DATABASE_URL: control.url } });
  expect(verified.status).toBe(0);
});

test("a repeat needs no confirmation, and answers with the first erasure", async () => {
  const id = await cancelled();
  const first = await request("erase", id, "--reason", "asked to", "--as", "ada", "--yes", "--json");
  const answer = JSON.parse(first.out);
  expect(answer).toMatchObject({ requestId: id, state: "done", by: "ada", why: "asked to", texts: 1 });
  const second = await request("erase", id, "--reason", "again", "--as", "ada", "--json");
  expect(second.status).toBe(0);
  expect(JSON.parse(second.out)).toEqual(answer);
});

test("without a terminal to ask it says what would be erased, and changes nothing", async () => {
  const id = await cancelled();
  const outcome = await request("erase", id, "--reason", "asked to", "--as", "ada");
  expect(outcome).toMatchObject({ status: 2, out: "" });
  expect(outcome.err).toContain("the reasons and notes that people wrote");
  expect(outcome.err).toContain("Pass --yes");
  expect((await request("show", id)).out).toContain("Initech has no money");
});

test.each([
  ["a member who is not an admin", ["--reason", "asked to", "--as", "ann"], 1, "Only an admin"],
  ["nobody", ["--reason", "asked to"], 2, "Pass --as"],
  ["an admin without a reason", ["--as", "ada"], 2, "--reason"],
  ["an admin with a blank reason", ["--as", "ada", "--reason", " "], 2, "1 to 2000 characters"],
])("is refused to %s", async (_who, parameters, status, message) => {
  const id = await cancelled();
  const outcome = await request("erase", id, ...parameters, "--yes");
  expect(outcome).toMatchObject({ status, out: "" });
  expect(outcome.err).toContain(message);
  expect((await request("show", id)).out).toContain("Initech has no money");
});
