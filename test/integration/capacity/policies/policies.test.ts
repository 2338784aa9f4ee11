/**
 * Who must approve what: escalation, automatic approval, and the refusal of a request that nobody could approve. Each test begins without
 * any policy.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, refusalOf, startWorkflow, type Policy, type RequestInput } from "../harness.ts";

const vpFrom10k = {
  id: "big",
  kind: "escalation",
  min_monthly_cost_usd: 10_000,
  approver_role: "vp",
} as const satisfies Policy;
const smallIsFree = {
  id: "small",
  kind: "auto_approval",
  step: "both",
  sizes: ["S", "M"],
  max_quantity: 2,
  max_monthly_cost_usd: 100,
} as const satisfies Policy;

const namesOf = (step: { readonly reviewers: readonly { readonly id: string }[] }): string[] =>
  step.reviewers.map((reviewer) => reviewer.id);

describe.each(POSTGRES_VERSIONS)("approval policies on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  const policies = async (...rows: readonly Policy[]): Promise<void> => {
    for (const row of rows) await workflow.addPolicy(row);
  };
  const preview = (input?: RequestInput) => workflow.preview(input);
  const ruleAt = async (cost: number | null) => (await preview({ cost })).commercial.rule;

  beforeEach(async () => {
    await workflow.db.superuser.pool.query(
      `delete from capacity.policies;
       update directory.members set away_from = null, away_until = null, active = id <> 'gus';
       update directory.members set roles = '{commercial}' where workspace_id = 'acme' and id = 'cora'`,
    );
  });

  describe("without rules", () => {
    test("the named owner and any member of the named group are asked, the requester never", async () => {
      const plan = await preview({ requester: "rob" });
      expect(plan).toMatchObject({
        state: "UNDER_REVIEW",
        slack_channel_id: null,
        commercial: { owner: "cora", authority: { kind: "owner", member: "cora" }, auto: false, rule: null },
        technical: { group: "infra", auto: false, rule: null },
      });
      expect(plan.commercial.why).toContain("Cora");
      expect([namesOf(plan.commercial), namesOf(plan.technical)]).toEqual([["cora"], ["tess", "tim"]]);
    });

    test("a preview equals what the request then gets, and writes nothing", async () => {
      await policies(vpFrom10k);
      const before = await workflow.size();
      const { state: _state, slack_channel_id: _channel, ...plan } = await preview({ cost: 20_000 });
      expect(await workflow.size()).toEqual(before);
      // Whom it asks first is not part of the plan: the directory may change before a decision.
      expect(plan).toMatchObject({ commercial: { asked: [{ id: "cora", reason: "owner" }] } });
      expect(plan).toMatchObject((await workflow.create({ cost: 20_000 })).review_plan);
    });

    test("an owner can be named by a Slack id, and the request stores the member's id", async () => {
      expect(await workflow.create({ owner: "U0CORA" })).toMatchObject({ commercial_owner_user_id: "cora" });
    });
  });

  describe("escalation", () => {
    test("below the threshold the owner suffices; from there on, the owner endorses and the VP decides", async () => {
      await policies(vpFrom10k);
      expect(await preview({ cost: 9999.99 })).toMatchObject({ commercial: { authority: { kind: "owner" } } });
      const { id, review_plan: plan } = await workflow.create({ cost: 10_000 });
      expect(plan.commercial).toMatchObject({ owner: "cora", authority: { kind: "role", role: "vp" }, rule: "big" });
      expect(namesOf(plan.commercial)).toEqual(["vera"]);
      await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "cora")).toMatchObject({
        state: "UNDER_REVIEW",
        version: 3,
        repeated: false,
      });
      expect((await workflow.events(id)).at(-1)).toMatchObject({
        event_type: "COMMERCIAL_APPROVED",
        actor_id: "cora",
        payload: { counts: false },
      });
      expect(await workflow.row(id)).toMatchObject({ commercial_endorsed_by: "cora", commercial_approved_at: null });
      const open = await oneOf<{ open: unknown }>(
        workflow.superuser,
        "select public.get_capacity_request($1) -> 'pending_approvals' as open",
        [id],
      );
      expect(open.open).toMatchObject([
        { step: "commercial", reviewers: [{ id: "vera", name: "Vera" }], endorsers: [] },
      ]);
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "vera")).toMatchObject({
        state: "CUSTOMER_CONFIRMATION_REQUIRED",
      });
      expect(await workflow.row(id)).toMatchObject({ commercial_endorsed_by: "cora", commercial_approved_by: "vera" });
      await workflow.expectWhole([id]);
    });

    test("an endorsement is given once per person, even by one who knows an old version", async () => {
      await policies(vpFrom10k);
      await workflow.setAway("cora", true);
      const { id } = await workflow.create({ cost: 50_000 });
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { expectedVersion: 1 });
      await workflow.apply(id, "COMMERCIAL_APPROVED", "dora");
      for (const member of ["cora", "dora"]) {
        expect(await workflow.apply(id, "COMMERCIAL_APPROVED", member, { expectedVersion: 1 })).toMatchObject({
          repeated: true,
          decided_by: member,
          version: 3,
        });
      }
      expect(await workflow.row(id)).toMatchObject({ commercial_endorsed_by: "cora", version: 3 });
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "vera")).toMatchObject({ repeated: false, version: 4 });
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "cora")).toMatchObject({
        repeated: true,
        decided_by: "vera",
      });
      await workflow.expectWhole([id]);
    });

    test("the VP needs no endorsement, and an owner who is one decides alone", async () => {
      await policies(vpFrom10k);
      const first = await workflow.create({ cost: 20_000 });
      await workflow.apply(first.id, "COMMERCIAL_APPROVED", "vera");
      expect(await workflow.row(first.id)).toMatchObject({
        commercial_approved_by: "vera",
        commercial_endorsed_by: null,
      });
      const second = await workflow.create({ cost: 20_000, owner: "vera" });
      await workflow.apply(second.id, "COMMERCIAL_APPROVED", "vera");
      expect(await workflow.row(second.id)).toMatchObject({
        commercial_approved_by: "vera",
        commercial_endorsed_by: null,
      });
    });

    test("the owner's rejection counts immediately", async () => {
      await policies(vpFrom10k);
      const { id } = await workflow.create({ cost: 20_000 });
      expect(await workflow.apply(id, "COMMERCIAL_REJECTED", "cora")).toMatchObject({ state: "REJECTED" });
    });

    test("a request without an estimate is treated as the most expensive", async () => {
      await policies(vpFrom10k, smallIsFree);
      expect(await preview({ cost: null, size: "S", quantity: 1 })).toMatchObject({
        commercial: { authority: { kind: "role", role: "vp" }, auto: false },
        technical: { auto: false },
      });
    });

    test("can name one member, who alone decides", async () => {
      await policies({ id: "carl-only", kind: "escalation", approver_id: "carl" });
      const { id, review_plan: plan } = await workflow.create();
      expect(plan.commercial.authority).toEqual({ kind: "member", member: "carl" });
      expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "vera"))).toBe("not_allowed");
      await workflow.apply(id, "COMMERCIAL_APPROVED", "carl");
      expect(await workflow.row(id)).toMatchObject({ commercial_approved_by: "carl" });
    });

    test("among rules of equal rank the one with the highest minimum cost decides, then the id", async () => {
      await policies(
        { id: "any", kind: "escalation", approver_role: "commercial" },
        { ...vpFrom10k, id: "b-vp" },
        { id: "c-carl", kind: "escalation", min_monthly_cost_usd: 100_000, approver_id: "carl" },
        { id: "d-ada", kind: "escalation", min_monthly_cost_usd: 100_000, approver_id: "ada" },
      );
      expect([await ruleAt(500), await ruleAt(20_000), await ruleAt(200_000), await ruleAt(null)]).toEqual([
        "any",
        "b-vp",
        "c-carl",
        "c-carl",
      ]);
      await workflow.db.superuser.pool.query("update capacity.policies set rank = 1 where id = 'b-vp'");
      expect(await ruleAt(200_000)).toBe("b-vp");
    });

    test("sizes are compared case-insensitively", async () => {
      await policies({ id: "huge", kind: "escalation", sizes: ["64XL"], approver_role: "vp" });
      expect(await preview({ size: "64xl" })).toMatchObject({ commercial: { rule: "huge" } });
    });
  });

  describe("approval by rule", () => {
    test("takes a small request to the customer immediately, in the name of the system and the rule", async () => {
      await policies(smallIsFree);
      const row = await workflow.create({ size: "S", quantity: 2, cost: 100, owner: null, group: null });
      expect(row).toMatchObject({
        state: "CUSTOMER_CONFIRMATION_REQUIRED",
        version: 3,
        commercial_approved_by: "policy:small",
        technical_approved_by: "policy:small",
        next_deadline_at: expect.any(Date),
      });
      expect((await workflow.events(row.id)).map((event) => [event.event_type, event.actor_type])).toEqual([
        ["REQUEST_SUBMITTED", "user"],
        ["COMMERCIAL_APPROVED", "system"],
        ["TECH_REVIEW_APPROVED", "system"],
      ]);
      expect(await preview({ size: "S", quantity: 2, cost: 100 })).toMatchObject({
        state: "CUSTOMER_CONFIRMATION_REQUIRED",
      });
      await workflow.expectWhole([row.id]);
    });

    test.each([
      ["a larger size", { size: "L" }],
      ["a larger quantity", { quantity: 3 }],
      ["a higher cost", { cost: 100.01 }],
    ])("does not cover %s", async (_what, change) => {
      await policies(smallIsFree);
      expect(await workflow.create({ size: "S", quantity: 1, cost: 50, ...change })).toMatchObject({
        state: "UNDER_REVIEW",
        version: 1,
      });
    });

    test("can cover one step and leave the other to people", async () => {
      await policies({ id: "tech-only", kind: "auto_approval", step: "technical" });
      const { id, ...row } = await workflow.create({ group: null });
      expect(row).toMatchObject({ state: "UNDER_REVIEW", version: 2 });
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "cora")).toMatchObject({
        state: "CUSTOMER_CONFIRMATION_REQUIRED",
      });
      await workflow.expectWhole([id]);
    });

    test("against an escalation the lower rank decides, and at equal rank the stricter", async () => {
      const auto = { id: "auto", kind: "auto_approval", step: "commercial", rank: 5 } as const;
      await policies({ ...vpFrom10k, rank: 5 }, auto);
      expect(await preview({ cost: 20_000 })).toMatchObject({ commercial: { auto: false, rule: "big" } });
      await workflow.db.superuser.pool.query("update capacity.policies set rank = 4 where id = 'auto'");
      expect(await preview({ cost: 20_000 })).toMatchObject({ commercial: { auto: true, rule: "auto" } });
      await workflow.db.superuser.pool.query("update capacity.policies set rank = 3 where id = 'big'");
      expect(await preview({ cost: 20_000 })).toMatchObject({ commercial: { auto: false, rule: "big" } });
    });

    test("the system approves nothing without a rule", async () => {
      const { id } = await workflow.create();
      expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "system:policy"))).toBe("not_allowed");
      expect(await codeOf(workflow.apply(id, "TECH_REVIEW_APPROVED", "system:policy"))).toBe("not_allowed");
      expect(await codeOf(workflow.apply(id, "TECH_REVIEW_REJECTED", "system:policy"))).toBe("not_allowed");
    });
  });

  describe("a request that nobody could approve", () => {
    const refused: [string, RequestInput, string, readonly Policy[]][] = [
      ["without an owner", { owner: null }, "No commercial owner", []],
      ["without a group", { group: null }, "No infra group", []],
      ["whose owner asks for it", { requester: "carl", owner: "carl" }, "the requester", []],
      ["whose group has nobody active", { group: "empty" }, "no active member", []],
      ["whose group has only the requester", { requester: "tim", group: "infra-eu" }, "no active member", []],
      ["that needs the VP who asks for it", { requester: "vera", cost: 20_000 }, "role vp", [vpFrom10k]],
      [
        "that a rule gives to the one who asks for it",
        { requester: "carl", owner: null },
        '"carl-owns"',
        [{ id: "carl-owns", kind: "review_route", approver_id: "carl" }],
      ],
    ];
    test.each(refused)("%s is refused when it is submitted, saying why", async (_what, input, why, rules) => {
      await policies(...rules);
      const before = await workflow.size();
      const refusal = await refusalOf(workflow.create(input));
      expect(refusal).toMatchObject({ code: "PT422", detail: expect.stringContaining(why) });
      expect(refusal.detail).toMatch(/^nobody_can_approve: /);
      expect(await workflow.size()).toEqual(before);
      expect(await refusalOf(preview(input))).toMatchObject({ code: "PT422", detail: refusal.detail });
    });

    test("because its owner is not an active reviewer is refused as bad input", async () => {
      for (const owner of ["gus", "nobody", "dora", "glen"])
        expect(await codeOf(workflow.create({ owner }))).toBe("invalid_input");
      expect(await codeOf(workflow.create({ group: "unknown" }))).toBe("invalid_input");
    });

    test("because a rule names a person who left is refused with that rule", async () => {
      await policies({ id: "old", kind: "review_route", approver_id: "gus" });
      const refusal = await refusalOf(workflow.create({ owner: null }));
      expect(refusal).toMatchObject({ code: "PT422", detail: expect.stringContaining('"old"') });
    });

    test("is accepted when a rule approves it automatically", async () => {
      await policies({ id: "all", kind: "auto_approval", step: "both" });
      expect(await workflow.create({ owner: null, group: null })).toMatchObject({
        state: "CUSTOMER_CONFIRMATION_REQUIRED",
      });
    });
  });

  describe("the plan of a submitted request is fixed", () => {
    test("a rule that is added, changed or removed later does not affect it", async () => {
      await policies(vpFrom10k);
      const escalated = await workflow.create({ cost: 20_000 });
      const plain = await workflow.create({ cost: 500 });
      await workflow.db.superuser.pool.query("delete from capacity.policies");
      await policies({ id: "everything", kind: "escalation", approver_id: "carl" });
      expect(await workflow.apply(escalated.id, "COMMERCIAL_APPROVED", "cora")).toMatchObject({
        state: "UNDER_REVIEW",
      });
      expect(await workflow.row(escalated.id)).toMatchObject({ commercial_approved_at: null });
      expect(await codeOf(workflow.apply(escalated.id, "COMMERCIAL_APPROVED", "carl"))).toBe("not_allowed");
      await workflow.apply(plain.id, "COMMERCIAL_APPROVED", "cora");
      expect(await workflow.row(plain.id)).toMatchObject({ commercial_approved_by: "cora" });
    });
  });
});
