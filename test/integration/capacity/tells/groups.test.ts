/** A group with its own Slack channel is told there what its members would otherwise be told one by one. */
import { describe, expect, onTestFinished, test } from "vitest";
import { putGroup, listGroups } from "../../../../src/directory/index.ts";
import { getNotification, resend } from "../../../../src/notify/index.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { linearRail, slackRail, startSurfaces, surfaceRail, type Surfaces } from "../surfaces.ts";
import { quiet } from "../timers/time.ts";
import { oneOf, rowsOf } from "../harness.ts";

interface Message {
  readonly channel: string;
  readonly text: string;
}

describe.each(POSTGRES_VERSIONS)("groups with a channel on PostgreSQL %i", async (version) => {
  const surfaces: Surfaces = await startSurfaces(version);
  const db = surfaces.superuser;
  const control = surfaces.db.as("headroom_control").pool;

  /** Until the end of the test. */
  async function channelOf(channel: string | null, group = "infra", workspace = "acme"): Promise<void> {
    const set = (slackChannelId: string | null) => putGroup(control, workspace, group, { slackChannelId });
    expect(await set(channel)).toMatchObject({ outcome: "put", group: { slackChannelId: channel } });
    onTestFinished(async () => void (await set(null)));
  }
  const toGroup = async (id: string): Promise<string[]> =>
    (await surfaces.toldOf(id)).filter(({ to }) => to === "infra").map(({ channel, stage }) => `${channel} ${stage}`);
  /** What the bot posted in a channel about a request. */
  async function posted(id: string, channel: string): Promise<Message[]> {
    const rows = await rowsOf<{ payload: Message }>(
      db,
      `select distinct m.outbox_id, m.payload from outbox.payloads m join notify.deliveries d on d.outbox_id = m.outbox_id
         join notify.parts p on p.delivery_id = d.id join notify.notifications n on n.id = p.notification_id
        where n.about = $1 and d.recipient_kind = 'group' order by m.outbox_id`,
      [id],
    );
    return rows.map(({ payload }) => payload).filter((message) => message.channel === channel);
  }

  test("a burst is one message in the channel, by the bot, and members get it in their inbox only", async () => {
    await quiet(surfaces);
    await channelOf("C0INFRA");
    const { id } = await surfaces.create();
    await rowsOf(db, "select public.nudge_capacity_request($1, 'rita')", [id]);
    expect(await toGroup(id)).toEqual(["slack held", "slack held"]);
    await surfaces.release();
    expect(await posted(id, "C0INFRA")).toMatchObject([
      { text: `Your decision is needed: 4 × 32XL in us-east-1 (${id}) (and 1 more)` },
    ]);
    await surfaces.relay(slackRail(), linearRail(), surfaceRail("webhook"));
    await surfaces.untilFinished(id);
    expect(await toGroup(id)).toEqual(["slack sent", "slack sent"]);
    const told = await surfaces.toldOf(id);
    const members = told.filter(({ to, audience }) => to !== "infra" && audience.startsWith("asked"));
    expect(new Set(members.map(({ channel }) => channel))).toEqual(new Set(["in-app"]));
  });

  test("another workspace's group of the same name is told nothing, and neither are groups that do not review", async () => {
    await channelOf("C0THEIRS", "infra", "globex");
    await channelOf("C0EUROPE", "infra-eu");
    const { id } = await surfaces.create();
    expect((await surfaces.events<{ effects: string[] }>(id))[0]?.effects).not.toContain("tell:group");
    expect(
      await rowsOf(db, "select from notify.notifications where recipient_kind = 'group' and about = $1", [id]),
    ).toEqual([]);
  });

  test("only operators see what a group was told: it is in no inbox, and no member's notification", async () => {
    await channelOf("C0INFRA");
    const { id } = await surfaces.create();
    const { n } = await oneOf<{ n: number }>(
      db,
      "select count(*)::integer as n from public.notification_outbox where user_id = 'infra'",
    );
    expect(n).toBe(0);
    const { notification } = await oneOf<{ notification: string }>(
      db,
      "select id as notification from notify.notifications where about = $1 and recipient_kind = 'group'",
      [id],
    );
    expect(await getNotification(control, notification)).toMatchObject({
      notification: { recipientKind: "group", recipient: "infra", parts: [{ channel: "slack", stage: "held" }] },
    });
  });

  test("a channel that is removed leaves no address, and the next one can be told", async () => {
    await channelOf("C0INFRA");
    const { id } = await surfaces.create();
    await putGroup(control, "acme", "infra", { slackChannelId: null });
    await surfaces.release();
    expect(await toGroup(id)).toEqual(["slack no_address"]);
    await putGroup(control, "acme", "infra", { slackChannelId: "C0OTHER" });
    const { told } = await oneOf<{ told: string }>(
      db,
      "select id as told from notify.notifications where about = $1 and recipient_kind = 'group'",
      [id],
    );
    await resend(control, told, { actor: "ann" });
    expect(await posted(id, "C0OTHER")).toHaveLength(1);
  });

  test("two releases at the same time post one message", async () => {
    await channelOf("C0INFRA");
    const { id } = await surfaces.create();
    await rowsOf(db, "update notify.parts set due_at = now() where state = 'held'");
    const [first, second] = [await surfaces.db.superuser.connect(), await surfaces.db.superuser.connect()];
    await first.query("begin");
    await first.query("select * from notify.release()");
    await second.query("set statement_timeout = '5s'");
    await second.query("select * from notify.release()");
    await first.query("commit");
    await second.query("select * from notify.release()");
    await Promise.all([first.end(), second.end()]);
    expect(await posted(id, "C0INFRA")).toHaveLength(1);
  });

  test("a notification of a group about a request is erased with it", async () => {
    await channelOf("C0INFRA");
    const { id } = await surfaces.create();
    await surfaces.release();
    const { erased } = await oneOf<{ erased: number }>(
      db,
      "select cardinality(to_members) as erased from notify.erase_about($1, now() + interval '1 minute', '{}')",
      [id],
    );
    expect(erased).toBe(1);
    expect(
      await rowsOf(db, "select title from notify.notifications where about = $1 and recipient_kind = 'group'", [id]),
    ).toEqual([{ title: null }]);
  });

  test("reminders of one round are one message for each group, whichever member is reminded first", async () => {
    await channelOf("C0INFRA");
    await rowsOf(
      db,
      `insert into notify.templates (workspace_id, name, language, title, body, updated_by)
       values ('acme', 'digest', 'en', 'In our own words', '{{reviews}}', 'ada')`,
    );
    const { id } = await surfaces.create();
    const items = (member: string) => [
      { member_id: member, id, step: "technical", since: 0, channel: null, group: "infra", what: "much" },
    ];
    for (const member of ["tess", "tim"])
      await rowsOf(db, "select capacity.timer_remind(w, $1, $2, 0) from directory.workspaces w where w.id = 'acme'", [
        member,
        JSON.stringify(items(member)),
      ]);
    const reminded = (await surfaces.toldOf(id)).filter(({ instruction }) => instruction.includes("!"));
    expect(reminded.map(({ audience, to, channel }) => `${audience} ${to} ${channel}`)).toEqual([
      "reminded tess in-app",
      "group infra slack",
      "reminded tim in-app",
    ]);
    // The workspace's words, to the group as to its members.
    const titles = "select title, recipient_kind from notify.notifications where about = $1 and cause = 'reminder'";
    expect(await rowsOf(db, `${titles} order by created_at`, [id])).toEqual(
      ["member", "group", "member"].map((kind) => ({ title: "In our own words", recipient_kind: kind })),
    );
    await rowsOf(db, "delete from notify.templates");
    expect(await surfaces.unmatched()).toEqual([]);
  });

  test.each(["general", "#infra", "C 1", "c0infra", `C${"0".repeat(32)}`])(
    "the channel %j is refused",
    async (channel) => {
      expect(await putGroup(control, "acme", "infra", { slackChannelId: channel })).toMatchObject({
        outcome: "refused",
        code: "invalid_input",
      });
      const group = (await listGroups(control, "acme")).find(({ id }) => id === "infra");
      expect(group?.slackChannelId).toBeNull();
    },
  );
});
