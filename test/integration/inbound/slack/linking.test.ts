/**
 * Reviewers without a Slack user in the directory: a person who is new in Slack might be one of them, and could review what they requested
 * there under their other name.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { refusalOf, rowsOf } from "../../capacity/harness.ts";
import { channel, startSlack } from "./slack.ts";

describe.each(POSTGRES_VERSIONS)("a reviewer without a known Slack user, on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;
  const create = (): Promise<string> => workflow.createIn("UNDER_REVIEW", { channel });
  const put = (id: string, changes: object) =>
    rowsOf(workflow.db.as("headroom_control").pool, "select * from directory.put_member('acme', $1, $2)", [
      id,
      JSON.stringify(changes),
    ]);
  const memberOf = async (user: string) =>
    (
      await rowsOf<{ id: string }>(workflow.superuser, "select id from directory.members where slack_user_id = $1", [
        user,
      ])
    )[0]?.id;
  const unlinked = async () =>
    (
      await rowsOf<{ member_id: string }>(
        workflow.superuser,
        "select member_id from capacity.unlinked_reviewers('acme')",
      )
    )
      .map((row) => row.member_id)
      .toSorted();
  const line = "create 32XL us-east-1 owner cora group infra";

  test.each([
    ["cora", "by role or as an owner"],
    ["tess", "by group"],
    ["dora", "as a delegate"],
    ["rita", "by a rule that names them"],
  ])(
    "%s, who reviews %s: no new person can start in Slack until they are linked or marked as having none",
    async (id) => {
      await workflow.addPolicy({ id: "named", kind: "escalation", sizes: ["99XL"], approver_id: "rita" });
      const user = `U0${id.toUpperCase()}`;
      await put(id, { slack_user_id: null });
      expect(await unlinked()).toEqual([id]);
      const { text } = await slack.command(line, "U0STRANGER");
      expect(text).toContain("cannot tell whether you are one of its reviewers");
      expect(text).toContain("--slack U0STRANGER");
      expect(await memberOf("U0STRANGER")).toBeUndefined();

      await put(id, { without_slack: true });
      expect(await unlinked()).toEqual([]);
      expect(
        await rowsOf(
          workflow.superuser,
          "select without_slack_by from directory.members where workspace_id = 'acme' and id = $1",
          [id],
        ),
      ).toEqual([{ without_slack_by: "login_headroom_control" }]);
      await slack.command("list", `U0FINE${id.toUpperCase()}`);
      expect(await memberOf(`U0FINE${id.toUpperCase()}`)).toBeDefined();
      await put(id, { slack_user_id: user });
      await rowsOf(workflow.superuser, "delete from capacity.policies where id = 'named'");
    },
  );

  test("cannot review requests of people known only from Slack, and is linked once those have ended", async () => {
    await slack.command(line, "U0EARLY");
    const [asked] = await rowsOf<{ id: string }>(
      workflow.superuser,
      "select id from public.capacity_requests where requester_user_id = 'U0EARLY'",
    );
    await put("cora", { slack_user_id: null });
    const refused = await refusalOf(workflow.apply(asked!.id, "COMMERCIAL_APPROVED", "cora"));
    expect(refused.message).toContain("cannot tell whether you asked for this yourself");
    // Under their own id they would review what they asked for.
    expect((await refusalOf(put("cora", { slack_user_id: "U0EARLY" }))).message).toContain(asked!.id);
    expect(await memberOf("U0EARLY")).toBe("U0EARLY");
    await workflow.apply(asked!.id, "CANCEL_APPROVED", "U0EARLY");
    await put("cora", { slack_user_id: "U0EARLY" });
    expect(await memberOf("U0EARLY")).toBe("cora");
    const other = await create();
    await slack.click("commercial_approve", other, "U0EARLY");
    expect((await workflow.row(other)).commercial_approved_by).toBe("cora");
    await put("cora", { slack_user_id: "U0CORA" });
  });

  test("is not given the Slack user of a member whom others wait for", async () => {
    await slack.command("list", "U0NEEDED");
    await put("carl", { delegate_id: "U0NEEDED" });
    const { message, hint } = await refusalOf(put("cora", { slack_user_id: "U0NEEDED" }));
    expect(message).toContain("U0NEEDED");
    expect(hint).toContain("headroom members remove U0NEEDED");
    expect(await rowsOf(workflow.superuser, "select delegate_id from directory.members where id = 'carl'")).toEqual([
      { delegate_id: "U0NEEDED" },
    ]);
    await put("carl", { delegate_id: null });
  });

  test("reviews a request whose requester merely has an id like a Slack user's, where nobody came from Slack", async () => {
    await rowsOf(
      workflow.superuser,
      "update directory.members set by_slack = false where workspace_id = 'acme'; insert into directory.members (workspace_id, id, display_name) values ('acme', 'USER07', 'Ursula')",
    );
    const { id } = await workflow.create({ requester: "USER07" });
    await put("cora", { slack_user_id: null });
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    await put("cora", { slack_user_id: "U0CORA" });
  });

  test("a receipt refers to a member by their id, not by their Slack user, whatever happens to it", async () => {
    const id = await create();
    await slack.click("commercial_approve", id, "U0TESS");
    await slack.click("tech_approve", id, "U0TESS");
    await slack.command("list", "U0GUS");
    const [refused, done, gone] = (await slack.deliveries()).slice(-3);
    expect(refused).toMatchObject({ outcome: "refused", member_id: "tess" });
    expect(done).toMatchObject({ outcome: "done", member_id: "tess" });
    expect(JSON.stringify([refused, done])).not.toContain("U0TESS");
    expect(gone).toMatchObject({ outcome: "refused", member_id: "gus" });
  });

  test("who has none reviews what others requested in Slack", async () => {
    await slack.command(line, "U0OTHERS");
    const [asked] = await rowsOf<{ id: string }>(
      workflow.superuser,
      "select id from public.capacity_requests where requester_user_id = 'U0OTHERS'",
    );
    await put("cora", { slack_user_id: null, without_slack: true });
    await workflow.apply(asked!.id, "COMMERCIAL_APPROVED", "cora");
    await put("cora", { slack_user_id: "U0CORA" });
  });
});
