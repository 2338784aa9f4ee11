/**
 * Notices: messages about a request that do not change it. Nudges, which are throttled, and notes, which every reader of the request may
 * add; both have their own table and their own outbox rows.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp } from "../gateway.ts";
import { customer, linearRail, sentFor, slackRail, startSurfaces, surfaceRail, type Surfaces } from "../surfaces.ts";
import { codeOf, oneOf, refusalOf, refusedAs, rowsOf } from "../harness.ts";

interface Nudge {
  readonly request_id: string;
  readonly notice_id: number;
  readonly next_nudge_at: string;
  readonly effects: string[];
  readonly asked: { readonly id: string; readonly name: string }[];
}

interface Note {
  readonly notice_id: number;
  readonly effects: string[];
}

async function nudge(surfaces: Surfaces, id: string, actor: string | null = "rita"): Promise<Nudge> {
  const answer = await oneOf<{ nudge: Nudge }>(
    surfaces.db.as("headroom_control").pool,
    "select public.nudge_capacity_request($1, $2) as nudge",
    [id, actor],
  );
  return answer.nudge;
}

async function note(surfaces: Surfaces, id: string, body: string | null, actor: string | null = "rita"): Promise<Note> {
  const answer = await oneOf<{ note: Note }>(
    surfaces.db.as("headroom_control").pool,
    "select public.note_capacity_request($1, $2, $3) as note",
    [id, body, actor],
  );
  return answer.note;
}

const askedOf = ({ asked }: Nudge): string[] => asked.map(({ id }) => id);

describe.each(POSTGRES_VERSIONS)("notices on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);

  /** Makes the last nudge of a request that old. The log is append-only, so this needs a superuser with triggers off. */
  async function ageNudge(id: string, minutes: number): Promise<void> {
    const client = await surfaces.db.superuser.connect();
    await client.query("set session_replication_role = replica");
    await client.query(
      "update capacity.notices set created_at = created_at - $2 * interval '1 minute' where request_id = $1 and kind = 'nudge'",
      [id, minutes],
    );
    await client.end();
  }

  describe("a nudge", () => {
    test("mentions everybody whose decision is open, in the thread, by name", async () => {
      const { id } = await surfaces.create();
      const done = await nudge(surfaces, id);
      expect(done.asked).toEqual([
        { id: "cora", name: "Cora" },
        { id: "rob", name: "Rob" },
        { id: "tess", name: "Tess" },
        { id: "tim", name: "Tim" },
      ]);
      expect(done.effects).toEqual(["slack:reply", "tell:asked"]);
      const reply = await surfaces.effect(`${id}!${done.notice_id}`, "slack:reply");
      expect(reply).toMatchObject({
        rail: "slack",
        key: `${id}:slack`,
        binds: [
          { path: [], renderer: "slack-reply" },
          { path: ["thread_ts"], capture: "slack_thread_ts", required: true },
        ],
        payload: {
          channel: "C0CAPACITY",
          text: `${id}: Rita asks for a decision.`,
          blocks: [{ text: { text: "Rita asks for a decision. <@U0CORA>, <@U0ROB>, <@U0TESS>, <@U0TIM>" } }],
        },
      });
      expect((await surfaces.row(id)).version).toBe(1);
    });

    test("asks all of a large group, and names ten of them in the thread", async () => {
      await rowsOf(
        surfaces.superuser,
        `with crowd as (insert into directory.members (workspace_id, id, display_name)
                        select 'acme', 'crowd' || lpad(g::text, 2, '0'), 'Crowd ' || g from generate_series(1, 60) g returning id)
         insert into directory.group_members (workspace_id, group_id, member_id) select 'acme', 'infra', id from crowd`,
      );
      const { id } = await surfaces.create();
      const done = await nudge(surfaces, id);
      await rowsOf(surfaces.superuser, "delete from directory.group_members where member_id like 'crowd%'");
      expect(askedOf(done).length).toBeGreaterThan(60);
      const { payload } = await surfaces.effect(`${id}!${done.notice_id}`, "slack:reply");
      expect(JSON.stringify(payload).match(/<@|Crowd \d/g)).toHaveLength(10);
    });

    test("leaves out people who have decided or are away", async () => {
      const { id } = await surfaces.create({ requester: "rob" });
      await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
      await surfaces.setAway("tim", true);
      expect(askedOf(await nudge(surfaces, id, "rob"))).toEqual(["tess"]);
      await surfaces.setAway("tim", false);
    });

    test("goes to the delegate of an owner who is away", async () => {
      const { id } = await surfaces.create();
      await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      await surfaces.setAway("cora", true);
      expect(askedOf(await nudge(surfaces, id))).toEqual(["dora"]);
      await surfaces.setAway("cora", false);
    });

    test("asks the owner before an endorsement, and the authority after it", async () => {
      await rowsOf(
        surfaces.superuser,
        `insert into capacity.policies (workspace_id, id, kind, step, min_monthly_cost_usd, approver_role)
         values ('acme', 'large', 'escalation', 'commercial', 100000, 'vp')`,
      );
      const [first, second] = [await surfaces.create({ cost: 200_000 }), await surfaces.create({ cost: 200_000 })];
      await rowsOf(surfaces.superuser, "delete from capacity.policies where workspace_id = 'acme'");
      for (const { id } of [first, second]) await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
      expect(askedOf(await nudge(surfaces, first.id))).toEqual(["cora"]);
      await surfaces.apply(second.id, "COMMERCIAL_APPROVED", "cora");
      expect(askedOf(await nudge(surfaces, second.id))).toEqual(["vera"]);
    });

    test("goes to the commercial owner while the customer is asked", async () => {
      const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      expect(askedOf(await nudge(surfaces, id))).toEqual(["cora"]);
    });

    test("goes by mail where there is no channel, to everybody who has an address", async () => {
      await surfaces.settings({ slack_channel_id: null });
      await rowsOf(
        surfaces.superuser,
        "update directory.members set email = id || '@acme.example' where id in ('cora', 'tim')",
      );
      const { id } = await surfaces.create();
      await surfaces.release();
      const done = await nudge(surfaces, id);
      await surfaces.release();
      await rowsOf(surfaces.superuser, "update directory.members set email = null");
      expect(done.effects).toEqual(["tell:asked"]);
      const told = (await surfaces.toldOf(id)).filter(({ instruction }) => instruction === `${id}!${done.notice_id}`);
      expect(told.map(({ to, channel, stage }) => [to, channel, stage])).toEqual(
        ["cora", "rob", "tess", "tim"].flatMap((to) => [
          [to, "email", to === "cora" || to === "tim" ? "waiting" : "no_address"],
          [to, "in-app", "shown"],
        ]),
      );
      const mail = await surfaces.effect(`${id}!${done.notice_id}`, "tell:asked", "tim");
      expect(mail).toMatchObject({
        rail: "email",
        payload: { to: "tim@acme.example", subject: `Rita asks for a decision. (${id})` },
      });
      expect(mail.payload["text"]).toContain("Hello Tim,\n\nRita asks for a decision.");
    });

    test("is throttled per request: too soon is refused with the time to wait, and later it succeeds", async () => {
      const { id } = await surfaces.create();
      await nudge(surfaces, id);
      const refusal = await refusalOf(nudge(surfaces, id, "ada"));
      expect(refusal).toMatchObject({ code: "PT429" });
      expect(refusal.detail).toMatch(/^too_soon: again in \d+ seconds$/);
      await nudge(surfaces, (await surfaces.create()).id);
      await ageNudge(id, 61);
      await nudge(surfaces, id);
      expect(await surfaces.effects(id)).toHaveLength(3 + 2);
    });

    test("two at the same instant are one", async () => {
      const { id } = await surfaces.create();
      const [one, other] = await surfaces.db.twoConnections("headroom_control");
      await one.query("begin");
      await one.query("select public.nudge_capacity_request($1, 'rita')", [id]);
      const waiting = codeOf(other.query("select public.nudge_capacity_request($1, 'rita')", [id]));
      await surfaces.db.waitUntilBlocked(other);
      await one.query("commit");
      expect(await waiting).toBe("too_soon");
    });

    test("that is rolled back leaves nothing, and readers do not wait for it", async () => {
      const { id } = await surfaces.create();
      const client = await surfaces.db.as("headroom_control").connect();
      await client.query("begin");
      await client.query("select public.nudge_capacity_request($1, 'rita')", [id]);
      expect((await surfaces.row(id)).version).toBe(1);
      await client.query("rollback");
      expect(await surfaces.unmatched()).toEqual([]);
    });

    test("by a person who may not send it is refused immediately, while a decision holds the request", async () => {
      const { id } = await surfaces.create();
      const [one, other] = await surfaces.db.twoConnections("headroom_control");
      await one.query("begin");
      await one.query("select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')", [id]);
      // A caller who waited for the request would fail because it is locked (55P03).
      await other.query("set lock_timeout = '200ms'");
      expect(await codeOf(other.query("select public.nudge_capacity_request($1, 'tess')", [id]))).toBe("not_allowed");
      expect(await codeOf(other.query("select public.nudge_capacity_request($1, 'carl')", [id]))).toBe("not_found");
      await one.query("rollback");
    });

    test.each([
      ["a member of the infra group", "tess", "not_allowed"],
      ["the commercial owner", "cora", "not_allowed"],
      ["a member who may not even read it", "carl", "not_found"],
      ["a member who has left", "gus", "not_allowed"],
      ["nobody in particular", null, "invalid_input"],
    ])("is refused to %s", async (_, actor, code) => {
      const { id } = await surfaces.create();
      const before = await surfaces.size();
      expect(await codeOf(nudge(surfaces, id, actor))).toBe(code);
      expect(await surfaces.size()).toEqual(before);
    });

    test.each(["PROVISIONING", "CANCELLED"])("is refused when nobody is asked to decide: %s", async (state) => {
      const id = await surfaces.createIn("PROVISIONING");
      if (state === "CANCELLED") await surfaces.apply(id, "CANCEL_APPROVED", "rita");
      expect(await codeOf(nudge(surfaces, id))).toBe("conflict");
    });

    test("of an unknown request is refused as not found", async () => {
      expect(await codeOf(nudge(surfaces, "CR-1999-000001"))).toBe("not_found");
      expect(await codeOf(nudge(surfaces, "'; drop table capacity.requests; --"))).toBe("not_found");
    });

    test("by a signed-in requester needs no name; a member of another workspace finds no such request", async () => {
      const { id } = await surfaces.create();
      const call = "select public.nudge_capacity_request($1) as nudge";
      expect(
        await codeOf(overHttp(surfaces.db, memberSession("rita", "globex"), (client) => client.query(call, [id]))),
      ).toBe("not_found");
      const answer = await overHttp(surfaces.db, memberSession("rita"), (client) =>
        oneOf<{ nudge: Nudge }>(client, call, [id]),
      );
      expect(answer.nudge.request_id).toBe(id);
      expect(
        await oneOf(
          surfaces.superuser,
          "select actor_id, via from capacity.notices where request_id = $1 and id = $2",
          [id, answer.nudge.notice_id],
        ),
      ).toEqual({ actor_id: "rita", via: "api" });
    });
  });

  describe("a note", () => {
    test("appears in the thread and on the issue, quoted, in every state", async () => {
      const id = await surfaces.createIn("PROVISIONING");
      await surfaces.apply(id, "CANCEL_APPROVED", "rita");
      const done = await note(surfaces, id, "  The <customer> moved.\nSee [ticket](https://x.example).  ", "tess");
      expect(done.effects).toEqual(["slack:reply", "linear:comment"]);
      const instruction = `${id}!${done.notice_id}`;
      expect((await surfaces.effect(instruction, "slack:reply")).payload).toMatchObject({
        text: `${id}: Tess notes:`,
        blocks: [
          { text: { text: "Tess notes:" } },
          { text: { text: ">The &lt;customer&gt; moved.\n>See [ticket](https://x.example)." } },
        ],
      });
      expect((await surfaces.effect(instruction, "linear:comment")).payload).toMatchObject({
        operation: "commentCreate",
        input: { body: "Tess notes:\n\n> The \\<customer\\> moved.\n> See \\[ticket\\](https://x.example)." },
      });
    });

    test("is not sent back to Linear; one from Slack is posted in the thread, where its command was not visible", async () => {
      const { id } = await surfaces.create();
      const effectsVia = async (via: string): Promise<unknown> =>
        (
          await oneOf<{ effects: string[] }>(
            surfaces.superuser,
            `select (capacity.post_notice(r, 'note', null, null, row('user', 'tess', $2)::capacity.actor, 'hello')).effects
               from capacity.requests r where r.id = $1`,
            [id, via],
          )
        ).effects;
      expect(await effectsVia("slack")).toEqual(["slack:reply", "linear:comment"]);
      expect(await effectsVia("linear")).toEqual(["slack:reply"]);
    });

    test.each([
      ["nothing", null],
      ["blanks", " \n\t "],
      ["too much", "x".repeat(4_001)],
      ["an escape sequence", "red \u001b[31m"],
      ["a delete character", "a\u007fb"],
    ])("of %s is refused, and nothing is written", async (_, body) => {
      const { id } = await surfaces.create();
      const before = await surfaces.size();
      expect(await codeOf(note(surfaces, id, body))).toBe("invalid_input");
      expect(await surfaces.size()).toEqual(before);
    });

    test("of the greatest length reaches every surface within its limits", async () => {
      const { id } = await surfaces.create();
      const done = await note(surfaces, id, "<&>\n".repeat(1_000).trim());
      const reply = await surfaces.effect(`${id}!${done.notice_id}`, "slack:reply");
      const [, quoted] = reply.payload["blocks"] as unknown as { text: { text: string } }[];
      expect(quoted?.text.text.length).toBeLessThanOrEqual(3_000);
    });

    test("is refused to people who may not read the request", async () => {
      const { id } = await surfaces.create();
      expect(await codeOf(note(surfaces, id, "hello", "carl"))).toBe("not_found");
      expect(await codeOf(note(surfaces, "CR-1999-000001", "hello"))).toBe("not_found");
    });

    test("waits for one in another transaction before it takes a lane, so that a decision there can continue", async () => {
      const { id } = await surfaces.create();
      const [one, other] = await surfaces.db.twoConnections("headroom_control");
      await one.query("begin");
      await one.query("select public.note_capacity_request($1, 'first', 'rita')", [id]);
      await other.query("begin");
      const second = other.query("select public.note_capacity_request($1, 'second', 'tess')", [id]);
      await surfaces.db.waitUntilBlocked(other);
      await one.query("select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')", [id]);
      await one.query("commit");
      await second;
      await other.query("commit");
      expect((await surfaces.row(id)).version).toBe(2);
      const notes = await rowsOf(
        surfaces.superuser,
        "select capacity.free_text(request_id, body_hash) as body from capacity.notices where request_id = $1 order by id",
        [id],
      );
      expect(notes).toEqual([{ body: "first" }, { body: "second" }]);
      await surfaces.expectWhole([id]);
    });

    test("changes neither the request nor its log, and cannot be taken back", async () => {
      const { id } = await surfaces.create();
      const done = await note(surfaces, id, "hello");
      await surfaces.expectWhole([id]);
      for (const statement of [
        "update capacity.notices set body_hash = null where id = $1",
        "delete from capacity.notices where id = $1",
      ]) {
        expect(await refusalOf(surfaces.superuser.query(statement, [done.notice_id]))).toMatchObject(
          refusedAs("append_only"),
        );
      }
    });
  });

  test("a request is warned of its deadline once, and a review is called late once, whoever writes it", async () => {
    const { id } = await surfaces.create();
    const twice = (columns: string, values: string): Promise<unknown> =>
      refusalOf(
        rowsOf(
          surfaces.superuser,
          `insert into capacity.notices (request_id, id, actor_type, actor_id, via, ${columns})
           select $1, n, 'cron', 'timer', 'cron', ${values} from generate_series(101, 102) n`,
          [id],
        ),
      );
    expect(await twice("kind", "'warning'")).toMatchObject({ constraint: "notices_one_warning" });
    expect(await twice("kind, step", "'late', 'commercial'")).toMatchObject({ constraint: "notices_one_late" });
  });

  test("notices are delivered in the request's own lane: after its root, in its thread", async () => {
    const slack = slackRail();
    const { id } = await surfaces.create({ customer });
    await note(surfaces, id, "first");
    await nudge(surfaces, id);
    await surfaces.relay(slack, linearRail(), surfaceRail("email"), surfaceRail("webhook"));
    await surfaces.untilFinished(id);
    const threads = sentFor<{ text: string; thread_ts?: string }>(slack, id).map(({ text, thread_ts }) => [
      text,
      thread_ts,
    ]);
    expect(threads.slice(1)).toEqual([
      [`${id}: Rita notes:`, "1700000000.000001"],
      [`${id}: Rita asks for a decision.`, "1700000000.000001"],
    ]);
  });

  test("every notice has its rows, and every row its notice", async () => {
    expect(await surfaces.unmatched()).toEqual([]);
  });
});
