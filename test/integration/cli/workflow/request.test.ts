/** `headroom request …` against a real database, as the operators' role: a request from its submission to its end. */
import { beforeAll, describe, expect, test } from "vitest";
import { applyEvent, createRequest, putPolicy, type NewRequest } from "../../../../src/capacity/index.ts";
import { putGroup, putMember, putWorkspace } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");
const env = { DATABASE_URL: control.url };

async function request(...parameters: string[]): Promise<Outcome> {
  return headroom(["request", ...parameters], { env });
}

async function requestJson(...parameters: string[]) {
  const outcome = await request(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

/** A request that was not submitted at the command line. */
async function given(changes: Partial<NewRequest> = {}): Promise<string> {
  const created = await createRequest(control.pool, {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "32XL",
    quantity: 4,
    region: "us-east-1",
    monthlyCostUsd: "500",
    ...changes,
  });
  if (created.outcome === "refused") throw new Error(created.message);
  return created.request.id;
}

/** A request that waits for its customer. */
async function offered(): Promise<string> {
  const id = await given();
  for (const who of ["olga", "tom"]) expect((await request("approve", id, "--as", who)).status).toBe(0);
  return id;
}

const terms = ["--size", "32XL", "--quantity", "4", "--region", "us-east-1", "--owner", "olga", "--group", "infra"];

beforeAll(async () => {
  const { pool } = control;
  await putMember(pool, "default", "ann", { roles: ["requester"] });
  await putMember(pool, "default", "olga", { displayName: "Olga O", roles: ["commercial"], slackUserId: "U024OLGA" });
  await putMember(pool, "default", "vic", { roles: ["vp"] });
  await putMember(pool, "default", "tom", { roles: ["operator"] });
  await putMember(pool, "default", "una", { roles: ["commercial"] });
  await putGroup(pool, "default", "infra", { name: "Infra team", add: ["tom", "una"] });
  await putPolicy(
    pool,
    "default",
    "vp-above",
    { kind: "escalation", approverRole: "vp" },
    { minMonthlyCostUsd: 10_000 },
  );
});

describe("create and preview", () => {
  test("a preview says who would be asked, and writes nothing", async () => {
    const plain = await request("preview", "--as", "ann", ...terms, "--cost", "20000");
    expect(plain).toMatchObject({ status: 0, err: "" });
    expect(plain.out).toMatch(/^commercial +Olga O +vp-above +The rule "vp-above"/m);
    expect(plain.out).toMatch(/^technical +tom, una +- +Any member of the group Infra team/m);
    const { answer } = await requestJson("preview", "--as", "ann", ...terms);
    expect(answer).toMatchObject({ state: "UNDER_REVIEW", slackChannelId: null, commercial: { rule: "vp-above" } });
    expect((await request("list")).out).toBe("No requests match.\n");
  });

  test("creating prints the request and what to do next; with an idempotency key a repeat prints the same", async () => {
    const words = 'create --as ann --cost 500 --customer {"name":"Acme"} --needed-by 2030-01-31';
    const ask = [...words.split(" "), ...terms];
    const plain = await request(...ask, "--days", "90", "--ttl", "3", "--key", "k1");
    expect(plain).toMatchObject({ status: 0, err: "" });
    const [, id = ""] = /^(CR-\d{4}-\d{6}) is UNDER_REVIEW: 4 × 32XL in us-east-1\.$/m.exec(plain.out) ?? [];
    expect(plain.out).toContain(`Next: headroom request show ${id}`);
    const { answer } = await requestJson(...ask, "--days", "90", "--ttl", "3", "--key", "k1");
    expect(answer.request).toMatchObject({
      id,
      state: "UNDER_REVIEW",
      version: 1,
      requester: "ann",
      commercialOwner: "olga",
      infraGroup: "infra",
      customerRef: { name: "Acme" },
      neededBy: "2030-01-31",
      durationDays: 90,
      monthlyCostUsd: "500",
      confirmationTtlDays: 3,
    });
    const other = await requestJson(...ask, "--key", "k1");
    expect(other).toMatchObject({ status: 1, answer: { error: { code: "idempotency_conflict" } } });
  });

  test.each([
    [["--as", "ann", "--size", "3 XL", "--region", "us-east-1"], 1, "requested_size"],
    [["--as", "olga", ...terms, "--cost", "5"], 1, "Nobody can give the commercial approval"],
    [["--as", "ann", ...terms, "--quantity", "0"], 2, "whole number from 1 to 10000"],
    [["--as", "ann", ...terms, "--justification", "x".repeat(2001)], 1, "The justification of the request"],
    [["--as", "ann", ...terms, "--cost", "much"], 2, "amount in US dollars"],
    [["--as", "ann", ...terms, "--customer", "[1]"], 2, "JSON object"],
    [["--as", "ann", ...terms, "--needed-by", "soon"], 2, "Give a date"],
    [[...terms], 2, "HEADROOM_MEMBER"],
    [["--as", "ann", "--region", "us-east-1"], 2, "--size"],
  ])("%j is refused with an explanation", async (parameters, status, message) => {
    const outcome = await request("create", ...parameters);
    expect(outcome).toMatchObject({ status, out: "" });
    expect(outcome.err).toContain(message);
  });

  test("the justification is shown by preview and show", async () => {
    const why = ["--justification", " We launch\nin\u202e March. "];
    expect((await request("preview", "--as", "ann", ...terms, ...why)).out).toContain(
      "\nThose who decide would read: We launch\\nin\\u202e March.\n",
    );
    const { answer } = await requestJson("create", "--as", "ann", ...terms, ...why);
    expect(answer.request.justification).toBe("We launch\nin\u202e March.");
    expect((await request("show", answer.request.id)).out).toMatch(/^why( +)We launch\n {3}\1in\\u202e March\.$/m);
  });

  test("the acting member may come from the environment", async () => {
    const outcome = await headroom(["request", "create", ...terms, "--cost", "1", "--json"], {
      env: { ...env, HEADROOM_MEMBER: "ann" },
    });
    expect(JSON.parse(outcome.out).request.requester).toBe("ann");
  });
});

describe("decisions", () => {
  test("both approvals, and the customer's answer by the owner", async () => {
    const id = await given();
    const first = await request("approve", id, "--as", "olga");
    expect(first).toMatchObject({ status: 0, err: "" });
    expect(first.out).toContain(`${id}: the commercial approval is recorded. The request is UNDER_REVIEW.`);
    expect(first.out).toContain("The technical review waits on tom (tom), una (una).");
    const { answer } = await requestJson("approve", id, "--as", "tom");
    expect(answer).toMatchObject({
      outcome: "decided",
      counts: true,
      event: "TECH_REVIEW_APPROVED",
      decidedBy: "tom",
      request: { state: "CUSTOMER_CONFIRMATION_REQUIRED", version: 3 },
    });
    expect((await request("confirm", id, "--as", "olga")).out).toContain("The request is PROVISIONING.");
    expect((await request("show", id)).out).toMatch(/CUSTOMER_CONFIRMED \(on the customer's behalf\) +olga/);
  });

  test("deciding twice changes nothing and says who decided", async () => {
    const id = await given();
    await applyEvent(control.pool, id, { type: "TECH_REVIEW_APPROVED" }, { as: "tom" });
    const again = await request("approve", id, "--as", "una", "--step", "technical");
    expect(again.status).toBe(0);
    expect(again.out).toMatch(/the technical approval was given before, by tom at .+Z\. Nothing was changed\./);
    const { answer } = await requestJson("approve", id, "--as", "una");
    expect(answer).toMatchObject({ outcome: "repeated", decidedBy: "tom", counts: true, request: { version: 2 } });
  });

  test("above the owner's authority the owner endorses and the VP decides", async () => {
    const id = await given({ monthlyCostUsd: "20000" });
    expect((await request("approve", id, "--as", "olga")).out).toContain("recorded as an endorsement");
    expect((await request("approve", id, "--as", "olga")).out).toContain("the endorsement was given before, by olga");
    expect((await requestJson("approve", id, "--as", "olga")).answer).toMatchObject({
      outcome: "repeated",
      counts: false,
      decidedBy: "olga",
    });
    expect((await requestJson("approve", id, "--as", "vic")).answer).toMatchObject({
      outcome: "decided",
      counts: true,
    });
    expect((await request("show", id)).out).toMatch(/COMMERCIAL_APPROVED \(endorsement\) +olga/);
  });

  test("a member can be named by their Slack id", async () => {
    const { answer } = await requestJson("approve", await given(), "--as", "U024OLGA", "--step", "commercial");
    expect(answer).toMatchObject({ outcome: "decided", decidedBy: "olga" });
    const id = await given();
    expect((await requestJson("list", "--waits-on", "me", "--as", "U024OLGA", "--limit", "1")).answer).toMatchObject({
      requests: [{ id, waitsOn: ["olga", "group infra"] }],
    });
    // The review follows from the request, whichever name the member is given by.
    expect((await requestJson("approve", id, "--as", "U024OLGA")).answer).toMatchObject({
      outcome: "decided",
      decidedBy: "olga",
      event: "COMMERCIAL_APPROVED",
    });
  });

  test("a member without a review to give is told whom each of them waits for", async () => {
    const id = await given();
    for (const as of ["vic", "U0NOBODY"]) {
      const outcome = await request("approve", id, "--as", as);
      expect(outcome).toMatchObject({ status: 1, out: "" });
      expect(outcome.err).toContain(`${as} has no review to give on ${id}.`);
      expect(outcome.err).toContain("the commercial review waits on olga; the technical review waits on tom, una");
    }
  });

  test("a delegate is shown with the person they stand in for", async () => {
    const id = await given();
    const now = Date.now();
    await putMember(control.pool, "default", "olga", {
      delegate: "vic",
      awayFrom: new Date(now - 60_000),
      awayUntil: new Date(now + 3_600_000),
    });
    const { out } = await request("show", id);
    await putMember(control.pool, "default", "olga", { delegate: null, awayFrom: null, awayUntil: null });
    expect(out).toContain("The commercial review waits on vic (vic, for olga).");
    expect(out).toContain("Olga O (olga) may decide it too, without being asked.");
    expect(out).toContain(`headroom request approve ${id} --step commercial --as vic`);
  });

  test("a member who gives both reviews must say which, while both are open", async () => {
    const id = await given({ commercialOwner: "una" });
    const which = await request("approve", id, "--as", "una");
    expect(which).toMatchObject({ status: 2, out: "" });
    expect(which.err).toContain("--step commercial or --step technical");
    await applyEvent(control.pool, id, { type: "TECH_REVIEW_APPROVED" }, { as: "una" });
    expect((await requestJson("approve", id, "--as", "una")).answer.event).toBe("COMMERCIAL_APPROVED");
  });

  test("a rejection, a cancellation and a refusal keep their reason", async () => {
    const [rejected, cancelled, declined] = [await given(), await given(), await given()];
    expect((await request("reject", rejected, "--as", "tom", "--reason", "no room")).out).toContain(
      "The request is REJECTED.",
    );
    expect((await request("show", rejected)).out).toMatch(/^rejected because +no room$/m);
    const { answer } = await requestJson("cancel", cancelled, "--as", "ann", "--reason", "not needed");
    expect(answer.request).toMatchObject({ state: "CANCELLED", cancellationReason: "not needed", cancelledBy: "ann" });
    await applyEvent(control.pool, declined, { type: "COMMERCIAL_APPROVED" }, { as: "olga" });
    await applyEvent(control.pool, declined, { type: "TECH_REVIEW_APPROVED" }, { as: "tom" });
    expect((await request("decline", declined, "--as", "olga", "--reason", "too expensive")).out).toContain(
      "The request is CANCELLED.",
    );
  });

  test.each([
    [["approve", "--as", "ann", "--step", "commercial"], "not_allowed"],
    [["approve", "--as", "vic"], "not_allowed"],
    [["confirm", "--as", "olga"], "invalid_transition"],
    [["approve", "--as", "tom", "--if-version", "9"], "stale_version"],
  ])("%j is refused with its code, and nothing is changed", async ([verb = "", ...options], code) => {
    const id = await given();
    expect(await requestJson(verb, id, ...options)).toMatchObject({ status: 1, answer: { error: { code } } });
    const applied = await applyEvent(
      control.pool,
      id,
      { type: "COMMERCIAL_APPROVED" },
      { as: "olga", expectedVersion: 1 },
    );
    expect(applied.outcome).toBe("recorded");
  });

  test.each([
    [["approve", "42", "--as", "tom"], "looks like CR-2026-000042"],
    [["reject", "CR-2026-000001", "--as", "tom"], "--reason"],
    [["cancel", "CR-2026-000001", "--as", "tom", "--reason", " "], "1 to 2000 characters"],
    [["approve", "CR-2026-000001", "--as", "tom", "--step", "legal"], "Allowed choices are commercial, technical"],
    [["list", "--open", "--state", "FAILED"], "cannot be used together"],
  ])("%j is called wrongly", async (parameters, message) => {
    const outcome = await request(...parameters);
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain(message);
  });
});

test("a nudge says whom it asks and when the next is allowed, and is throttled", async () => {
  const id = await given();
  const plain = await request("nudge", id, "--as", "ann");
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out).toContain("Olga O (olga)");
  expect(plain.out).toMatch(/The next nudge is possible from .+Z on\./);
  expect(await requestJson("nudge", id, "--as", "ann")).toMatchObject({
    status: 1,
    answer: { error: { code: "too_soon" } },
  });
  expect((await request("show", id)).out).toMatch(/^nudge +.+ +ann/m);
});

describe("list and show", () => {
  test("filters and pages as asked", async () => {
    const id = await given();
    const plain = await request("list", "--open", "--limit", "1");
    expect(plain.out).toMatch(/^ID +STATE +FOR +WHAT +REGION/);
    expect(plain.out).toMatch(
      new RegExp(`^${id} +UNDER_REVIEW .+ 4 × 32XL +us-east-1 +500 +ann +olga, group infra`, "m"),
    );
    expect(plain.out).toContain(`More: --after ${id}`);
    const { answer: next } = await requestJson("list", "--limit", "2", "--after", id);
    expect(next.requests).toHaveLength(2);
    expect(next.next).toBe(next.requests[1].id);
    expect((await requestJson("list", "--mine", "--as", "tom")).answer).toEqual({ requests: [], next: null });
    const { answer: waits } = await requestJson("list", "--waits-on", "me", "--as", "olga");
    expect(waits.requests[0]).toMatchObject({ id, waitsOn: ["olga", "group infra"] });
    const { answer: ended } = await requestJson("list", "--state", "REJECTED", "CANCELLED");
    expect(new Set(ended.requests.map((row: { state: string }) => row.state))).toEqual(
      new Set(["REJECTED", "CANCELLED"]),
    );
  });

  test("shows facts and what to do, and nothing that a terminal would execute", async () => {
    const id = await given({ customerRef: { name: "Evil\u202eedils" } });
    const { out } = await request("show", id);
    expect(out).not.toContain("\u202e");
    expect(out).toContain("Evil\\u202eedils");
    expect(out).toMatch(/^what +4 × 32XL in us-east-1$/m);
    expect(out).toContain(`headroom request approve ${id} --step commercial --as olga`);
    expect(out).toMatch(/^1 +\S+ +REQUEST_SUBMITTED +ann/m);
    expect(await requestJson("show", "CR-2026-999999")).toMatchObject({
      status: 1,
      answer: { error: { code: "not_found" } },
    });
  });
});

describe("the customer of a request", () => {
  test("create takes an id and show tells it; without one the address tells, and what cannot be an id is refused", async () => {
    const asked = ["--as", "ann", ...terms, "--cost", "500"];
    const named = await requestJson("create", ...asked, "--customer-id", "initech", "--email", "it@initech.example");
    expect(named.answer.request).toMatchObject({ customerId: "initech" });
    expect((await request("show", named.answer.request.id)).out).toMatch(/^customer's id +initech$/m);
    const known = await requestJson("create", ...asked, "--email", "IT@initech.example");
    expect(known.answer.request.customerId).toMatch(/^[0-9a-f]{64}$/);
    const unknown = await requestJson("create", ...asked);
    expect(unknown.answer.request.customerId).toBeNull();
    expect((await request("show", unknown.answer.request.id)).out).not.toContain("customer's id");
    for (const command of ["create", "preview"]) {
      expect(await requestJson(command, ...asked, "--customer-id", " initech")).toMatchObject({
        status: 1,
        answer: { error: { code: "invalid_input" } },
      });
    }
  });
});

describe("a customer who is not asked", () => {
  test("create and preview say so, and take the address", async () => {
    const asked = ["--as", "ann", ...terms, "--cost", "500"];
    expect((await request("preview", ...asked)).out).toContain("Pass --email name@example.com.");
    const bare = await request("create", ...asked);
    expect(bare.out).toContain("The customer will not be asked by mail: their e-mail address is not known.");
    expect(bare.out).toMatch(/headroom request address CR-\d+-\d+ name@example\.com --as olga/);
    const { answer } = await requestJson(
      "create",
      ...asked,
      "--customer",
      '{"name":"Acme"}',
      "--email",
      "it@acme.example",
    );
    expect(answer.request).toMatchObject({
      customerRef: { name: "Acme", email: "it@acme.example" },
      customerUnasked: "no_public_url",
    });
    expect((await request("create", ...asked, "--email", "a@b, c@d")).status).toBe(2);
  });

  test("show and list say so, and address and link fix it", async () => {
    const id = await offered();
    const { out } = await request("show", id);
    expect(out).toContain("The customer has not been asked: their e-mail address is not known.");
    expect(out).toContain(`headroom request address ${id} name@example.com --as olga`);
    expect(out).toContain("Olga O (olga) can fix that.");
    const [listed] = (await requestJson("list", "--limit", "1")).answer.requests;
    expect(listed).toMatchObject({ id, waitsOn: ["customer (not asked)"] });

    expect(await requestJson("address", id, "it@acme.example", "--as", "ann")).toMatchObject({
      status: 1,
      answer: { error: { code: "not_allowed" } },
    });
    const set = await request("address", id, "it@acme.example", "--as", "olga");
    expect(set.out).toContain(`${id}: the customer's address is set.`);
    expect(set.out).toContain("headroom policy settings --public-url");
    await putWorkspace(control.pool, "default", { publicUrl: "https://cap.example.org" });
    expect((await request("show", id)).out).toContain(`headroom request link ${id} --as olga`);
    expect((await requestJson("link", id, "--as", "olga")).answer).toMatchObject({
      mailed: true,
      customerUnasked: null,
    });
    expect(await requestJson("link", id, "--as", "olga")).toMatchObject({ answer: { error: { code: "too_soon" } } });
    expect((await request("show", id)).out).toMatch(/^customer's address +it@acme\.example$/m);
    await putWorkspace(control.pool, "default", { publicUrl: null });
  });

  test("a note is added, and shown", async () => {
    const id = await given();
    expect((await request("note", id, "they need it by May", "--as", "ann")).out).toBe(`${id}: the note was added.\n`);
    expect((await request("show", id)).out).toMatch(/^note .+ ann .+they need it by May$/m);
  });
});
