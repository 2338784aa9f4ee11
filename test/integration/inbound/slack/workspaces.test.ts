/**
 * Which workspace a person in Slack acts for, and whether they belong to it: teams, Enterprise Grids and guests.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { channel, startSlack, team } from "./slack.ts";

describe.each(POSTGRES_VERSIONS)("which workspace Slack speaks for on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;

  beforeEach(() => slack.takeInteractions());

  const create = (): Promise<string> => workflow.createIn("UNDER_REVIEW", { channel });

  const enterprise = { team: null, enterprise: { id: "E0ACME", name: "Acme" } };

  test("a Slack workspace that is not connected is unknown", async () => {
    const id = await create();
    await slack.click("tech_approve", id, "U0TESS", {
      team: { id: "T0OTHER" },
      user: { id: "U0TESS", team_id: "T0OTHER" },
    });
    expect((await slack.takeInteractions())[0]?.text).toContain("not connected");
    expect((await workflow.row(id)).version).toBe(1);
  });

  test("an app that is installed for a whole Enterprise Grid sends no team", async () => {
    const id = await create();
    await slack.click("tech_approve", id, "U0TESS", enterprise);
    expect((await slack.takeInteractions())[0]?.text).toContain("not connected");
    await rowsOf(
      workflow.superuser,
      "update directory.workspaces set slack_enterprise_id = 'E0ACME' where id = 'acme'",
    );
    await slack.click("tech_approve", id, "U0TESS", enterprise);
    expect((await workflow.row(id)).technical_approved_by).toBe("tess");
    await rowsOf(workflow.superuser, "update directory.workspaces set slack_enterprise_id = null where id = 'acme'");
  });

  test("a guest from another organisation acts only if the directory knows them", async () => {
    const id = await create();
    await slack.click("cancel", id, "U0GUEST", { user: { id: "U0GUEST", team_id: "T0ELSE", name: "guest" } });
    expect((await slack.takeInteractions())[0]?.text).toContain("not in the directory");
    await slack.click("tech_approve", id, "U0TESS", { user: { id: "U0TESS", team_id: "T0ELSE", name: "tess" } });
    expect((await workflow.row(id)).technical_approved_by).toBe("tess");
  });

  test.each([
    ["with the team", {}],
    ["without the team", { team: null }],
  ])(
    "in an Enterprise Grid, %s, a guest from another organisation does not become a member by clicking",
    async (how, more) => {
      await rowsOf(
        workflow.superuser,
        "update directory.workspaces set slack_enterprise_id = 'E0ACME' where id = 'acme'",
      );
      const id = await create();
      const before = await slack.written();
      const click = (user: string, userTeam: string): Promise<unknown> =>
        slack.click("cancel", id, user, {
          ...enterprise,
          team: { id: team },
          ...more,
          user: { id: user, team_id: userTeam },
        });
      await click("U0FOREIGN", "T0ELSE");
      expect((await slack.takeInteractions())[0]?.text).toContain("not in the directory");
      expect((await slack.written())["members"]).toEqual(before["members"]);
      for (const [user, home] of [
        ["U0HOME", team],
        ["U0GRID", "E0ACME"],
      ] as const) {
        await click(`${user}${how.length}`, home);
        expect((await slack.takeInteractions())[0]?.text).not.toContain("not in the directory");
      }
      await rowsOf(workflow.superuser, "update directory.workspaces set slack_enterprise_id = null where id = 'acme'");
    },
  );

  test("where no workspace is connected, the default one is meant", async () => {
    await rowsOf(workflow.superuser, "update directory.workspaces set slack_team_id = null where id = 'acme'");
    expect((await slack.command("list", "U0SOLO")).text).toContain("Nothing waits for you");
    expect(await rowsOf(workflow.superuser, "select workspace_id from directory.members where id = 'U0SOLO'")).toEqual([
      { workspace_id: "default" },
    ]);
    await rowsOf(workflow.superuser, "update directory.workspaces set slack_team_id = 'T0ACME' where id = 'acme'");
  });
});
