/**
 * Reviewers of whom the directory names no Slack user: whoever is new in Slack might be one of them, and would review what they ask for
 * there under their other name.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import type { EventType } from "../../capacity/reduce/model.ts";
import { refusalOf, rowsOf } from "../../capacity/workflow.ts";
import { channel, startSlack } from "./slack.ts";

describe.each(POSTGRES_VERSIONS)("a reviewer whose Slack user nobody has named, on PostgreSQL %i", async (version) => {
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
  ])("%s, who reviews %s: nobody new begins in Slack until they are linked or have none", async (id) => {
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
  });

  test("reviews nothing of whom Slack alone knows, and is one with them once they are linked", async () => {
    await slack.command(line, "U0EARLY");
    const [asked] = await rowsOf<{ id: string }>(
      workflow.superuser,
      "select id from public.capacity_requests where requester_user_id = 'U0EARLY'",
    );
    const refused = async (event: EventType) =>
      refusalOf(workflow.apply(asked!.id, event, "cora")).then(({ message }) => message);
    await put("cora", { slack_user_id: null });
    expect(await refused("COMMERCIAL_APPROVED")).toContain("cannot be told whether you asked for this yourself");
    await put("cora", { slack_user_id: "U0EARLY" });
    expect(await refused("COMMERCIAL_APPROVED")).toContain("Nobody reviews their own request");
    expect(await memberOf("U0EARLY")).toBe("cora");
    await slack.click("commercial_approve", asked!.id, "U0EARLY");
    expect((await slack.takeInteractions())[0]?.text).toContain("Nobody reviews their own request");
    // Another's is reviewed as ever, and their own is theirs to cancel.
    const other = await create();
    await slack.click("commercial_approve", other, "U0EARLY");
    expect((await workflow.row(other)).commercial_approved_by).toBe("cora");
    await workflow.apply(asked!.id, "CANCEL_APPROVED", "cora");
    await put("cora", { slack_user_id: "U0CORA" });
  });

  test("a receipt knows a member by their id, not by their Slack user, whatever became of it", async () => {
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

  test("who has none reviews what others asked for in Slack", async () => {
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
