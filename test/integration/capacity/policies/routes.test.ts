/**
 * Review routes: rules that say who reviews, by size and region. Where one applies, the requester has no choice.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, refusalOf, startWorkflow, type Policy, type RequestInput } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("review routes on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  const policies = async (...rows: readonly Policy[]): Promise<void> => {
    for (const row of rows) await workflow.addPolicy(row);
  };
  const preview = (input?: RequestInput) => workflow.preview(input);

  beforeEach(async () => {
    await workflow.db.superuser.pool.query("delete from capacity.policies");
  });

  test("name the owner and the group where the requester named none, by size and region", async () => {
    await policies(
      { id: "eu-group", kind: "review_route", step: "technical", regions: ["eu-west-1"], group_id: "infra-eu" },
      { id: "large-owner", kind: "review_route", sizes: ["32xl"], approver_id: "carl" },
    );
    const plan = await preview({ owner: null, group: null, region: "eu-west-1" });
    expect(plan).toMatchObject({
      commercial: { owner: "carl", rule: "large-owner" },
      technical: { group: "infra-eu", rule: "eu-group" },
    });
    expect(plan.technical.reviewers).toEqual([{ id: "tim", name: "Tim" }]);
    expect(await workflow.create({ owner: null, group: null, region: "eu-west-1" })).toMatchObject({
      commercial_owner_user_id: "carl",
      infra_owner_group: "infra-eu",
    });
  });

  const named: [string, RequestInput, Policy, string][] = [
    [
      "owner",
      { owner: "cora" },
      { id: "large-owner", kind: "review_route", sizes: ["32XL"], approver_id: "carl" },
      "Carl",
    ],
    [
      "owner, by a Slack id",
      { owner: "U0CORA" },
      { id: "large-owner", kind: "review_route", sizes: ["32XL"], approver_id: "carl" },
      "Carl",
    ],
    ["owner who does not exist", { owner: "nobody" }, { id: "o", kind: "review_route", approver_id: "carl" }, "Carl"],
    [
      "group",
      { group: "infra", region: "eu-west-1" },
      { id: "eu-group", kind: "review_route", step: "technical", regions: ["eu-west-1"], group_id: "infra-eu" },
      "Infra Europe",
    ],
    [
      "group that does not exist",
      { group: "unknown" },
      { id: "g", kind: "review_route", step: "technical", group_id: "infra-eu" },
      "Infra Europe",
    ],
  ];
  test.each(named)("cannot be bypassed by naming another %s", async (_what, input, rule, asked) => {
    await policies(rule);
    const before = await workflow.size();
    for (const attempt of [() => workflow.create(input), () => preview(input)]) {
      const refusal = await refusalOf(attempt());
      expect(refusal).toMatchObject({
        code: "PT400",
        detail: expect.stringMatching(/^invalid_input: /),
        hint: expect.stringMatching(/^Leave .* out/),
      });
      expect(refusal.message).toContain(`The rule "${rule.id}" asks for`);
      expect(refusal.message).toContain(asked);
    }
    expect(await workflow.size()).toEqual(before);
  });

  test("also apply where the request is approved by a rule, or by a higher authority", async () => {
    await policies(
      { id: "o", kind: "review_route", approver_id: "carl" },
      { id: "g", kind: "review_route", step: "technical", group_id: "infra-eu" },
      { id: "small", kind: "auto_approval", step: "both", sizes: ["S"] },
      { id: "big", kind: "escalation", min_monthly_cost_usd: 10_000, approver_role: "vp" },
    );
    const small = { size: "S", quantity: 1, cost: 50 };
    expect(await codeOf(workflow.create({ ...small, group: null }))).toBe("invalid_input");
    expect(await codeOf(workflow.create({ ...small, owner: null }))).toBe("invalid_input");
    expect(await codeOf(workflow.create({ cost: 20_000, group: null }))).toBe("invalid_input");
    expect(await workflow.create({ cost: 20_000, owner: null, group: null })).toMatchObject({
      commercial_owner_user_id: "carl",
      review_plan: { commercial: { authority: { kind: "role", role: "vp" }, rule: "big" } },
    });
  });

  test("accept a requester who names the same person, by id or by Slack id", async () => {
    await policies(
      { id: "g", kind: "review_route", step: "technical", group_id: "infra-eu" },
      { id: "o", kind: "review_route", approver_id: "carl" },
    );
    const plan = await preview({ owner: null, group: null });
    expect(plan).toMatchObject({
      commercial: { owner: "carl", rule: "o" },
      technical: { group: "infra-eu", rule: "g" },
    });
    for (const owner of ["carl", "U0CARL"]) expect(await preview({ owner, group: "infra-eu" })).toEqual(plan);
  });

  test("leave the choice to the requester where they do not apply", async () => {
    await policies(
      { id: "g", kind: "review_route", step: "technical", regions: ["eu-west-1"], group_id: "infra-eu" },
      { id: "o", kind: "review_route", sizes: ["64XL"], approver_id: "carl" },
    );
    expect(await preview()).toMatchObject({
      commercial: { owner: "cora", rule: null },
      technical: { group: "infra", rule: null },
    });
  });

  test("the lowest rank decides, then the id; a disabled rule is ignored", async () => {
    await policies(
      { id: "a", kind: "review_route", approver_id: "cora", rank: 7 },
      { id: "b", kind: "review_route", approver_id: "carl", rank: 5 },
      { id: "c", kind: "review_route", approver_id: "vera", rank: 5 },
      { id: "d", kind: "review_route", approver_id: "ada", rank: 1, enabled: false },
    );
    expect(await preview({ owner: null })).toMatchObject({ commercial: { owner: "carl", rule: "b" } });
  });
});
