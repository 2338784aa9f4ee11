/** Which messages say why capacity is needed, and which do not. */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, createTestDatabase } from "../../../helpers/database.ts";
import { complaintsAbout } from "./block-kit.ts";
import { type Mail, render, root, tell } from "./renderers.ts";
import { confirmationRequired, submitted } from "./story.ts";

const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } });

describe.each(POSTGRES_VERSIONS)("a justification on PostgreSQL %i", async (version) => {
  const db = await createTestDatabase({ version });

  beforeAll(async () => {
    await db.superuser.pool.query("insert into directory.workspaces (id, name) values ('acme', 'Acme')");
  });

  test("the justification is quoted in full to the people who decide, and to nobody else", async () => {
    const words = "We <!channel> launch\nin *March*.";
    const story = { ...submitted, justification: words };
    const quoted = section("*Why it is needed*\n>We &lt;!channel&gt; launch\n>in *March*.");
    expect((await root(db, story)).blocks[2]).toEqual(quoted);
    expect((await root(db, { ...confirmationRequired, justification: words })).blocks[2]).toEqual(quoted);
    const longest = await root(db, { ...submitted, justification: "x".repeat(2000) });
    expect(longest.blocks[2]).toEqual(section(`*Why it is needed*\n>${"x".repeat(2000)}`));
    for (const text of ["&".repeat(2000), "\n".repeat(1999) + "x", "🚀".repeat(2000)]) {
      expect(complaintsAbout(await root(db, { ...submitted, justification: text }))).toEqual([]);
    }
    const issue = await render<{ input: { description: string } }>(db, "render_linear_issue", story);
    expect(issue.input.description).toMatch(
      /not approved\n\n\*\*Why it is needed:\*\*\n\n> We \\<\\!channel\\> launch\n> in \\\*March\\\*\.$/,
    );
    for (const template of ["asked", "escalated"]) {
      const mail = await tell<Mail>(db, template, "email", story, "cora@acme.example");
      expect(mail.text).toContain("\n\nWhy it is needed:\n> We <!channel> launch\n> in *March*.\n");
      expect(mail.html).toContain("Why it is needed:<br>&gt; We &lt;!channel&gt; launch<br>&gt; in *March*.");
    }
    for (const template of ["offer", "warning", "cancelled", "step", "notice", "no_longer_asked"]) {
      expect(
        JSON.stringify(await tell(db, template, "email", { ...confirmationRequired, justification: words })),
      ).not.toContain("March");
    }
    expect(JSON.stringify(await render(db, "render_event", story))).not.toContain("March");
  });
});
