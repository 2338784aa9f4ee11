/**
 * The fingerprint of a submission decides whether a key was used for the same content. Keys outlive releases, so its contents are written
 * out here and never change: a field that is added later is included only where it is given.
 */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, startWorkflow, type RequestInput } from "../harness.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

describe.each(POSTGRES_VERSIONS)("the fingerprint of a submission on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const fingerprintOf = async (input: RequestInput): Promise<string> => {
    const { id } = await workflow.create(input);
    const { fingerprint } = await oneOf<{ fingerprint: string }>(
      workflow.superuser,
      "select encode(fingerprint, 'hex') as fingerprint from capacity.submissions where request_id = $1",
      [id],
    );
    return fingerprint;
  };

  test.each<[string, RequestInput, string]>([
    [
      "with everything",
      {
        customer: { org: "org_7", name: 'Łódź "7"', amount: 1e21 },
        quantity: 7,
        neededBy: "2030-01-31",
        cost: "1234.50",
        ttlDays: 3,
        channel: "C0CHANNEL",
        customerId: "customer 7",
      },
      `["rita", "cora", "infra", {"org": "org_7", "name": "Łódź \\"7\\"", "amount": 1000000000000000000000}, "32XL", 7, "us-east-1", "2030-01-31", 30, 1234.5, 3, "C0CHANNEL", null, "customer 7"]`,
    ],
    [
      "with as little as will do",
      { owner: null, group: null, customer: null, durationDays: null, cost: null },
      `["rita", null, null, null, "32XL", 4, "us-east-1", null, null, null, 7, null, null]`,
    ],
  ])("%s is what it was in the first release", async (what, input, content) => {
    await workflow.addPolicy({ id: "owner", kind: "review_route", step: "commercial", approver_id: "cora" });
    await workflow.addPolicy({ id: "group", kind: "review_route", step: "technical", group_id: "infra" });
    expect(await fingerprintOf({ key: what, ...input })).toBe(sha256(content));
    await workflow.superuser.query("delete from capacity.policies");
  });

  test("has later fields by their names, and only where they are given", async () => {
    const none = { customer: null };
    const before = '["rita", "cora", "infra", null, "32XL", 4, "us-east-1", null, 30, 500, 7, null, null';
    expect(await fingerprintOf({ ...none, key: "a", justification: null })).toBe(sha256(`${before}]`));
    expect(await fingerprintOf({ ...none, key: "b", justification: "Acme" })).toBe(
      sha256(`${before}, {"justification": "Acme"}]`),
    );
    expect(await fingerprintOf({ ...none, key: "c", customerId: "Acme" })).toBe(sha256(`${before}, "Acme"]`));
  });

  test("ignores how an amount is written, and nothing else", async () => {
    const { id } = await workflow.create({ key: "sum", cost: "500.0" });
    expect(await workflow.create({ key: "sum", cost: "500.00" })).toMatchObject({ id });
    expect(await codeOf(workflow.create({ key: "sum", cost: "500.01" }))).toBe("idempotency_conflict");
    expect(await codeOf(workflow.create({ key: "sum", customerId: "another" }))).toBe("idempotency_conflict");
  });
});
