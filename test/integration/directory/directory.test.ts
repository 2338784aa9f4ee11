/** The directory and the rules: what they accept, what is refused with an explanation, and what lists show. */
import { beforeAll, describe, expect, test } from "vitest";
import {
  applyEvent,
  createRequest,
  listPolicies,
  listRequests,
  putPolicy,
  removePolicy,
  type ListOptions,
  type NewRequest,
} from "../../../src/capacity/index.ts";
import {
  listGroups,
  listMembers,
  putGroup,
  putMember,
  putWorkspace,
  removeGroup,
  removeMember,
} from "../../../src/directory/index.ts";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, refusalOf, rowsOf } from "../outbox/queries.ts";

describe.each(POSTGRES_VERSIONS)("the directory on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });
  const { pool } = db.as("headroom_control");
  const terms: NewRequest = {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "8XL",
    quantity: 1,
    region: "eu-west-1",
    monthlyCostUsd: "100",
  };

  async function submit(changes: Partial<NewRequest> = {}): Promise<string> {
    const created = await createRequest(pool, { ...terms, ...changes });
    if (created.outcome === "refused") throw new Error(created.message);
    return created.request.id;
  }

  async function idsOf(options: Partial<ListOptions> = {}): Promise<string[]> {
    const listed = await listRequests(pool, { workspaceId: "default", ...options });
    if (listed.outcome === "refused") throw new Error(listed.message);
    return listed.requests.map(({ id }) => id);
  }

  beforeAll(async () => {
    await putMember(pool, "default", "ann", { roles: ["requester"] });
    await putMember(pool, "default", "olga", { displayName: "Olga O", roles: ["commercial"], slackUserId: "U024OLGA" });
    await putMember(pool, "default", "dan", { roles: ["commercial"] });
    await putMember(pool, "default", "vic", { roles: ["vp"] });
    await putMember(pool, "default", "tom", { roles: ["operator"] });
    await putGroup(pool, "default", "infra", { name: "Infra team", add: ["tom"] });
  });

  test("a member changes field by field: omitted fields stay, null empties", async () => {
    const put = await putMember(pool, "default", "eve", {
      displayName: "Eve",
      email: "eve@example.org",
      roles: ["auditor"],
    });
    expect(put).toMatchObject({
      outcome: "put",
      member: { id: "eve", displayName: "Eve", active: true, slackUserId: null },
    });
    expect(await putMember(pool, "default", "eve", { email: null, slackUserId: "U0EEEEEE" })).toMatchObject({
      member: { displayName: "Eve", email: null, slackUserId: "U0EEEEEE", roles: ["auditor"] },
    });
    expect(await putMember(pool, "default", "eve", {})).toMatchObject({ member: { slackUserId: "U0EEEEEE" } });
  });

  test("an address from before there was a canonical form stays until another is given", async () => {
    await putMember(pool, "default", "ivo", {});
    const stored = "IVO@m\u00FCnchen.example";
    await db.superuser.pool.query("update directory.members set email = $1 where id = 'ivo'", [stored]);
    expect(await putMember(pool, "default", "ivo", { displayName: "Ivo" })).toMatchObject({
      member: { email: stored },
    });
    const refused = await putMember(pool, "default", "ivo", { email: "ivo@m\u00FCnchen.example" });
    expect(refused).toMatchObject({ outcome: "refused", detail: expect.stringContaining("xn-- form") as string });
    expect(await putMember(pool, "default", "ivo", { active: false })).toMatchObject({ outcome: "put" });
  });

  test.each<[string, string, Parameters<typeof putMember>[3], string]>([
    ["an id with a blank", "bad id", {}, "id of a member"],
    ["no name", "x", { displayName: "" }, "display_name"],
    ["a name over two lines", "x", { displayName: "two\nlines" }, "display_name"],
    ["an invalid address", "x", { email: "nonsense" }, "email"],
    ["an address that only looks like one", "x", { email: "eve@ex\u0430mple.org" }, "email"],
    ["an invalid Slack id", "x", { slackUserId: "tom" }, "slack_user_id"],
    ["somebody else's Slack id", "x", { slackUserId: "U024OLGA" }, "slack_user_id"],
    ["a name that is somebody's Slack id", "U024OLGA", {}, "slack_user_id"],
    ["oneself as delegate", "x", { delegate: "x" }, "delegate_id"],
    ["a delegate who does not exist", "x", { delegate: "nobody" }, "delegate_id"],
    ["half an absence", "x", { awayFrom: new Date() }, "away_from"],
    ["an absence that ends before it begins", "x", { awayFrom: new Date(2), awayUntil: new Date(1) }, "away_from"],
  ])("a member with %s is refused, and nothing is written", async (_name, id, changes, message) => {
    const refused = await putMember(pool, "default", id, changes);
    expect(refused).toMatchObject({
      outcome: "refused",
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
    const listed = await listMembers(pool, "default", { inactive: true });
    expect(listed.outcome === "listed" && listed.members.some((member) => member.id === id)).toBe(false);
  });

  test.each([
    ["an unknown field", `{"rank": 1}`, 'no field "rank"'],
    ["a value of the wrong type", `{"active": "perhaps"}`, "wrong type"],
    ["a role that nobody has", `{"roles": ["king"]}`, "roles"],
    ["a role that is null", `{"roles": [null]}`, "roles"],
    ["no object", `[1]`, "an object of fields"],
  ])("changes with %s are refused", async (_name, changes, message) => {
    const refusal = await refusalOf(rowsOf(pool, "select directory.put_member('default', 'x', $1)", [changes]));
    expect(refusal).toMatchObject({ code: "PT400", message: expect.stringContaining(message) });
  });

  test("what does not exist is not found", async () => {
    expect(await putMember(pool, "nowhere", "x", {})).toMatchObject({ outcome: "refused", code: "not_found" });
    expect(await listMembers(pool, "nowhere")).toMatchObject({ outcome: "refused", code: "not_found" });
    expect(await removeMember(pool, "default", "nobody")).toMatchObject({ outcome: "refused", code: "not_found" });
    expect(await removeGroup(pool, "default", "nothing")).toMatchObject({ outcome: "refused", code: "not_found" });
    expect(await removePolicy(pool, "default", "nothing")).toMatchObject({ outcome: "refused", code: "not_found" });
    expect(await putGroup(pool, "nowhere", "x", {})).toMatchObject({ outcome: "refused", code: "not_found" });
    expect(await putPolicy(pool, "nowhere", "x", undefined)).toMatchObject({ outcome: "refused", code: "not_found" });
  });

  test("groups are made, filled, emptied and removed, but not while they are needed", async () => {
    expect(await putGroup(pool, "default", "spare", { add: ["tom", "vic", "tom"] })).toMatchObject({
      outcome: "put",
      group: { id: "spare", name: "spare", members: ["tom", "vic"] },
    });
    expect(await putGroup(pool, "default", "spare", { name: "Spare", remove: ["tom", "nobody"] })).toMatchObject({
      group: { name: "Spare", members: ["vic"] },
    });
    expect(await putGroup(pool, "default", "spare", { add: ["nobody"] })).toMatchObject({
      outcome: "refused",
      code: "invalid_input",
    });
    const id = await submit({ infraGroup: "spare" });
    expect(await removeGroup(pool, "default", "spare")).toMatchObject({ outcome: "refused", code: "conflict" });
    await applyEvent(pool, id, { type: "CANCEL_APPROVED", reason: "no longer" }, { as: "ann" });
    await putPolicy(
      pool,
      "default",
      "route",
      { kind: "review_route", step: "technical", group: "spare" },
      { sizes: ["99XL"] },
    );
    expect(await removeGroup(pool, "default", "spare")).toMatchObject({ outcome: "refused", code: "conflict" });
    await removePolicy(pool, "default", "route");
    expect(await removeGroup(pool, "default", "spare")).toEqual({ outcome: "removed" });
    expect((await listGroups(pool, "default")).map(({ id: group }) => group)).toEqual(["infra"]);
  });

  test("a removed member stays in the log and leaves groups, and what waits for them is reported", async () => {
    await putMember(pool, "default", "gus", { roles: ["commercial"] });
    await putMember(pool, "default", "hal", { delegate: "gus" });
    await putGroup(pool, "default", "infra", { add: ["gus"] });
    await putPolicy(pool, "default", "gus-decides", { kind: "escalation", approver: "gus" }, { sizes: ["99XL"] });
    const id = await submit({ commercialOwner: "gus" });
    expect(await removeMember(pool, "default", "gus")).toEqual({
      outcome: "removed",
      memberId: "gus",
      leftGroups: ["infra"],
      roles: ["commercial"],
      slackUserId: null,
      accounts: 0,
      apiKeys: [],
      openRequests: 1,
      policies: ["gus-decides"],
      delegators: ["hal"],
    });
    expect(await applyEvent(pool, id, { type: "COMMERCIAL_APPROVED" }, { as: "gus" })).toMatchObject({
      outcome: "refused",
      code: "not_allowed",
    });
    const now = await listMembers(pool, "default");
    expect(now.outcome === "listed" && now.members.some((member) => member.id === "gus")).toBe(false);
    expect(await putMember(pool, "default", "gus", { active: true })).toMatchObject({
      outcome: "refused",
      code: "conflict",
    });
    await removePolicy(pool, "default", "gus-decides");
    expect(await putMember(pool, "default", "gus", { displayName: "Gus" })).toMatchObject({
      outcome: "refused",
      code: "conflict",
    });
    expect(await putMember(pool, "default", "gus", { active: true })).toMatchObject({
      member: { roles: ["requester"], active: true },
    });
  });

  test.each<[string, Parameters<typeof putPolicy>[3], Parameters<typeof putPolicy>[4], string]>([
    ["no kind", undefined, { minMonthlyCostUsd: 5 }, "kind"],
    ["an approver who does not exist", { kind: "escalation", approver: "nobody" }, {}, "approver_id"],
    ["a group that does not exist", { kind: "review_route", step: "technical", group: "none" }, {}, "group_id"],
    [
      "a maximum below the minimum",
      { kind: "auto_approval", step: "both" },
      { minMonthlyCostUsd: 9, maxMonthlyCostUsd: 8 },
      "max_monthly_cost_usd",
    ],
    ["a negative cost", { kind: "auto_approval", step: "both" }, { minMonthlyCostUsd: -1 }, "min_monthly_cost_usd"],
    ["an empty list of sizes", { kind: "auto_approval", step: "both" }, { sizes: [] }, "sizes"],
    ["no quantity", { kind: "auto_approval", step: "both" }, { maxQuantity: 0 }, "max_quantity"],
  ])("a rule with %s is refused, and nothing is written", async (_name, rule, conditions, message) => {
    const refused = await putPolicy(pool, "default", "new", rule, conditions);
    expect(refused).toMatchObject({
      outcome: "refused",
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
    expect((await listPolicies(pool, "default")).map(({ id }) => id)).not.toContain("new");
  });

  test("a rule that changes its kind no longer names whom it named", async () => {
    await putPolicy(
      pool,
      "default",
      "turns",
      { kind: "escalation", approver: "vic" },
      { sizes: ["99XL"], rank: 7, maxMonthlyCostUsd: "99.50" },
    );
    expect(await putPolicy(pool, "default", "turns", { kind: "auto_approval", step: "technical" })).toMatchObject({
      policy: {
        kind: "auto_approval",
        step: "technical",
        approver: null,
        rank: 7,
        sizes: ["99XL"],
        maxMonthlyCostUsd: "99.50",
      },
    });
    expect(await removePolicy(pool, "default", "turns")).toEqual({ outcome: "removed" });
  });

  test.each<[string, Parameters<typeof putWorkspace>[2], string]>([
    ["an invalid address", { publicUrl: "ftp://x" }, "public_url"],
    ["an address without end", { publicUrl: `https://${"x".repeat(600)}` }, "public_url"],
    ["a channel's name for its id", { slackChannelId: "general" }, "slack_channel_id"],
    ["no time for a review", { reviewSlaHours: 0 }, "review_sla_hours"],
    ["no name", { name: "" }, "name"],
  ])("a workspace with %s is refused", async (_name, changes, message) => {
    expect(await putWorkspace(pool, "default", changes)).toMatchObject({
      outcome: "refused",
      code: "invalid_input",
      message: expect.stringContaining(message),
    });
  });

  describe("lists of requests", () => {
    test("show whom each waits for, and search by state, requester and the person it waits for", async () => {
      await putPolicy(
        pool,
        "default",
        "vp-above",
        { kind: "escalation", approverRole: "vp" },
        { minMonthlyCostUsd: 1_000 },
      );
      const plain = await submit();
      const costly = await submit({ monthlyCostUsd: "5000" });
      const asked = await submit({ requester: "dan" });
      const listed = await listRequests(pool, { workspaceId: "default", limit: 3 });
      expect(listed).toMatchObject({
        requests: [
          { id: asked, waitsOn: ["olga", "group infra"], requester: "dan" },
          { id: costly, waitsOn: ["olga", "group infra"], monthlyCostUsd: "5000" },
          { id: plain, waitsOn: ["olga", "group infra"], size: "8XL", quantity: 1 },
        ],
      });
      // Its owner endorses first; then the higher authority is asked, and the owner no longer.
      expect(await idsOf({ waitsOn: "vic" })).toEqual([]);
      expect(await idsOf({ waitsOn: "olga" })).toContain(costly);
      await applyEvent(pool, costly, { type: "COMMERCIAL_APPROVED" }, { as: "olga" });
      expect(await listRequests(pool, { workspaceId: "default", waitsOn: "vic" })).toMatchObject({
        requests: [{ id: costly, waitsOn: ["role vp", "group infra"] }],
      });
      expect(await idsOf({ waitsOn: "vic" })).toEqual([costly]);
      expect(await idsOf({ waitsOn: "tom" })).toEqual(expect.arrayContaining([plain, costly, asked]));
      expect(await idsOf({ waitsOn: "infra" })).toEqual(await idsOf({ waitsOn: "tom" }));
      expect(await idsOf({ waitsOn: "olga" })).toEqual(expect.arrayContaining([plain, asked]));
      expect(await idsOf({ waitsOn: "olga" })).not.toContain(costly);
      expect(await idsOf({ requester: "dan" })).toEqual([asked]);
      await applyEvent(pool, plain, { type: "TECH_REVIEW_APPROVED" }, { as: "tom" });
      expect(await idsOf({ waitsOn: "tom" })).not.toContain(plain);
      await applyEvent(pool, plain, { type: "COMMERCIAL_REJECTED", reason: "no" }, { as: "olga" });
      expect(await idsOf({ states: ["REJECTED"] })).toEqual([plain]);
      expect(await idsOf({ states: ["REJECTED", "UNDER_REVIEW"] })).toEqual(expect.arrayContaining([plain, costly]));
    });

    test("a request waits for the delegate while the owner is away, but never for a delegate who requested it", async () => {
      const ids = await idsOf({ waitsOn: "olga" });
      const hour = 3_600_000;
      await putMember(pool, "default", "olga", {
        delegate: "dan",
        awayFrom: new Date(Date.now() - hour),
        awayUntil: new Date(Date.now() + hour),
      });
      const asked = await idsOf({ requester: "dan" });
      expect(await idsOf({ waitsOn: "dan" })).toEqual(ids.filter((id) => !asked.includes(id)));
      await putMember(pool, "default", "olga", { delegate: null, awayFrom: null, awayUntil: null });
    });

    test("come in pages, each request once, newest first, even past the millionth", async () => {
      await rowsOf(db.superuser.pool, "select setval('capacity.request_numbers', 999998)");
      const [six, seven] = [await submit(), await submit()];
      expect([six, seven]).toEqual([expect.stringMatching(/-999999$/), expect.stringMatching(/-1000000$/)]);
      const all = await idsOf();
      expect(all.slice(0, 2)).toEqual([seven, six]);
      const seen: string[] = [];
      for (let page = 0; page < all.length; page += 1) {
        const ids = await idsOf({ limit: 2, after: seen.at(-1) });
        seen.push(...ids);
        if (ids.length < 2) break;
      }
      expect(seen).toEqual(all);
      const { n } = await oneOf<{ n: number }>(
        db.superuser.pool,
        "select count(*)::integer as n from capacity.requests",
      );
      expect(seen).toHaveLength(n);
    });

    test("with bad bounds are refused", async () => {
      expect(await listRequests(pool, { workspaceId: "default", limit: 0 })).toMatchObject({
        outcome: "refused",
        code: "invalid_input",
      });
      expect(await listRequests(pool, { workspaceId: "default", after: "CR-1" })).toMatchObject({
        outcome: "refused",
        code: "not_found",
      });
      expect(await idsOf({ workspaceId: "nowhere" })).toEqual([]);
    });
  });
});
