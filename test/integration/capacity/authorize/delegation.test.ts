/**
 * Who may decide is read from the directory at the moment of the decision: who is away, who is the delegate, who left, who lost a role.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, rowsOf, startWorkflow, type Policy, type RequestInput } from "../harness.ts";

const vpFrom10k: Policy = { id: "big", kind: "escalation", min_monthly_cost_usd: 10_000, approver_role: "vp" };

describe.each(POSTGRES_VERSIONS)("the directory as it is now on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  beforeEach(async () => {
    await workflow.db.superuser.pool.query(
      `delete from capacity.policies;
       update directory.members set away_from = null, away_until = null, active = id <> 'gus';
       update directory.members set roles = '{commercial}' where workspace_id = 'acme' and id = 'cora'`,
    );
  });

  test("a delegate decides while the owner is away, and only then", async () => {
    const { id } = await workflow.create();
    expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "dora"))).toBe("not_allowed");
    await workflow.setAway("cora", true);
    const { review_plan: plan } = await workflow.create();
    expect(plan.commercial.reviewers.map((reviewer) => reviewer.id)).toEqual(["cora", "dora"]);
    await workflow.apply(id, "COMMERCIAL_APPROVED", "dora");
    expect(await workflow.row(id)).toMatchObject({ commercial_approved_by: "dora" });
  });

  test("a delegate never decides their own request, nor a request of the owner they stand in for", async () => {
    await workflow.setAway("cora", true);
    const own = await workflow.create({ requester: "dora" });
    expect(await codeOf(workflow.apply(own.id, "COMMERCIAL_APPROVED", "dora"))).toBe("not_allowed");
    await workflow.addPolicy(vpFrom10k);
    const owners = await workflow.create({ requester: "cora", owner: "cora", cost: 20_000 });
    for (const member of ["cora", "dora"])
      expect(await codeOf(workflow.apply(owners.id, "COMMERCIAL_APPROVED", member))).toBe("not_allowed");
    await workflow.apply(owners.id, "COMMERCIAL_APPROVED", "vera");
  });

  test("the requester does not answer for the customer: not as owner, nor as the owner's delegate", async () => {
    await workflow.addPolicy(vpFrom10k);
    await workflow.setAway("cora", true);
    for (const [requester, refused] of [
      ["cora", ["cora", "dora"]],
      ["dora", ["dora"]],
    ] as const) {
      const { id } = await workflow.create({ requester, owner: "cora", cost: 20_000 });
      await workflow.apply(id, "COMMERCIAL_APPROVED", "vera");
      await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
      for (const member of refused) {
        for (const event of ["CUSTOMER_CONFIRMED", "CUSTOMER_DECLINED"] as const)
          expect(await codeOf(workflow.apply(id, event, member))).toBe("not_allowed");
      }
      expect(await workflow.row(id)).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED", version: 3 });
      const able = requester === "cora" ? "customer:customer" : "cora";
      expect(await workflow.apply(id, "CUSTOMER_CONFIRMED", able)).toMatchObject({ state: "PROVISIONING" });
    }
  });

  test("an owner who left or lost the role can no longer decide", async () => {
    const { id } = await workflow.create();
    await workflow.db.superuser.pool.query("update directory.members set roles = '{requester}' where id = 'cora'");
    expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "cora"))).toBe("not_allowed");
    await workflow.db.superuser.pool.query(
      "update directory.members set roles = '{commercial}', active = false where id = 'cora'",
    );
    expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "cora"))).toBe("not_allowed");
  });

  test("the people named as reviewers are exactly those whose approval would count", async () => {
    await workflow.addPolicy(vpFrom10k);
    for (const away of [false, true]) {
      await workflow.setAway("cora", away);
      for (const input of [
        {},
        { cost: 20_000 },
        { requester: "vera" },
        { requester: "rob", group: "infra" },
        { requester: "dora" },
        { requester: "cora", cost: 20_000 },
        { owner: "vera", cost: 20_000 },
      ] satisfies RequestInput[]) {
        const { id } = await workflow.create(input);
        const disagreements = await rowsOf(
          workflow.superuser,
          `select m.id, s.event, a.allowed, a.counts
             from capacity.requests r
            cross join (values ('commercial', 'COMMERCIAL_APPROVED'), ('technical', 'TECH_REVIEW_APPROVED')) s(step, event)
            cross join directory.members m
            cross join lateral capacity.authorize(row('user', m.id, 'test')::capacity.actor, directory.standing_of(m.workspace_id, m.id), r,
                                                  s.event::public.capacity_request_event_type, clock_timestamp()) a
            where r.id = $1 and m.workspace_id = 'acme'
              and (a.allowed and a.counts) <> exists (select from capacity.asked_now(r) n where n.step = s.step and n.counts and n.member_id = m.id)`,
          [id],
        );
        expect(disagreements).toEqual([]);
      }
    }
  });
});
