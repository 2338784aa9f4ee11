/** Rows that say what happened: rendered when a relay sends them, with the state at the moment of the event. */
import { afterEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import type { Json } from "../../../../src/outbox/index.ts";
import type { ProbeOptions } from "../../outbox/relay/rails.ts";
import { memberSession, overHttp } from "../gateway.ts";
import { customer, linearRail, sentFor, slackRail, startSurfaces, surfaceRail } from "../surfaces.ts";
import { rowsOf } from "../harness.ts";

interface Reply {
  readonly text: string;
  readonly thread_ts?: string;
}
interface Comment {
  readonly operation: string;
  readonly input: { readonly id: string; readonly body: string; readonly issueId?: string };
}

/** Everything about the people and the workspace that a message could show. */
const otherwise = `
update directory.members set display_name = display_name || ' Otherwise', slack_user_id = 'U9' || upper(id) where workspace_id = 'acme';
update directory.workspaces set linear_team_id = 'team-2', public_url = 'https://elsewhere.example' where id = 'acme'`;
const asBefore = `
update directory.members set display_name = replace(display_name, ' Otherwise', ''), slack_user_id = 'U0' || upper(id) where workspace_id = 'acme'`;

const secret = "Bill of Initech hangs up on us";

const others = () => [surfaceRail("email"), surfaceRail("webhook")];

describe.each(POSTGRES_VERSIONS)("what happened, rendered when it is sent on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const run = (sql: string) => surfaces.db.superuser.pool.query(sql);
  afterEach(() => run(asBefore));

  /** The waiting payloads to Slack and Linear about a request, as text. */
  const waiting = (id: string) =>
    rowsOf<{ effect: string; payload: string }>(
      surfaces.superuser,
      `select m.idempotency_key as effect, m.payload::text as payload
         from outbox.payloads m join outbox.rails r on r.rail_id = m.rail_id join outbox.pending p on p.outbox_id = m.outbox_id
        where r.name in ('slack', 'linear') and m.instruction_id ~ ('^' || $1 || '[#!]')`,
      [id],
    );

  test("replies and comments that waited say what they would have said immediately, whatever changed since", async () => {
    const [slack, linear] = [slackRail(), linearRail()];
    const { id } = await surfaces.create({ customer });
    const moments: { reply: Json; comment: Json }[] = [];
    for (const [event, actor] of [
      ["COMMERCIAL_APPROVED", "cora"],
      ["TECH_REVIEW_APPROVED", "tess"],
      ["CUSTOMER_DECLINED", "customer:customer"],
    ] as const) {
      const { version: seq } = await surfaces.apply(id, event, actor, {
        payload: event === "CUSTOMER_DECLINED" ? { reason: "too expensive" } : {},
      });
      const instruction = `${id}#${seq}`;
      moments.push({
        reply: (await surfaces.effect(instruction, "slack:reply")).payload,
        comment: (await surfaces.effect(instruction, "linear:comment")).payload,
      });
    }
    await run(otherwise);
    await surfaces.relay(slack, linear, ...others());
    await surfaces.untilFinished(id);

    const replies = sentFor<Reply>(slack, id).filter(({ thread_ts: thread }) => thread !== undefined);
    expect(replies).toEqual(moments.map(({ reply }) => ({ ...(reply as object), thread_ts: "1700000000.000001" })));
    expect(replies.map(({ text }) => text)).toEqual([
      `${id}: Cora approved the commercial review. The technical review is still open.`,
      expect.stringContaining(`${id}: Tess approved the technical review. The customer has until `),
      expect.stringContaining("The customer declined"),
    ]);
    expect(JSON.stringify(replies)).not.toMatch(/Otherwise|U9/);
    expect(JSON.stringify(replies[1])).toContain("<@U0CORA>");
    expect(JSON.stringify(replies[2])).toContain("too expensive");

    const sent = sentFor<Comment>(linear, id);
    const issue = sent.find(({ operation }) => operation === "issueCreate")!.input.id;
    expect(sent.filter(({ operation }) => operation === "commentCreate").map(({ input }) => input)).toEqual(
      moments.map(({ comment }) => ({ ...(comment as unknown as Comment).input, issueId: issue })),
    );
  });

  test("each try of a reply and of a comment is the same, byte for byte, whatever happens between them", async () => {
    const bodies: Record<"slack" | "linear", string[]> = { slack: [], linear: [] };
    const { id } = await surfaces.create({ customer });
    await surfaces.apply(id, "COMMERCIAL_REJECTED", "cora", { payload: { reason: "too expensive" } });
    /** Fails twice, and changes everything meanwhile. */
    const twice = (
      rail: "slack" | "linear",
      effect: string,
      deliver: NonNullable<ProbeOptions["send"]>,
    ): ProbeOptions => ({
      send: async (message, context, count) => {
        if (message.instructionId !== `${id}#2` || message.idempotencyKey !== effect)
          return deliver(message, context, count);
        bodies[rail].push(message.body);
        await run(bodies[rail].length === 1 ? otherwise : asBefore);
        return bodies[rail].length < 3
          ? { kind: "retry", code: "http_500", reason: "not now", afterMs: 1 }
          : deliver(message, context, count);
      },
    });
    const posted = {
      kind: "delivered",
      response: { ok: true, ts: "1700000000.000001", issue: { id: "issue-1" } },
    } as const;
    await run("update outbox.streams set backoff_base_ms = 1 where name = 'capacity'");
    await surfaces.relay(
      slackRail(twice("slack", "slack:reply", () => posted)),
      linearRail(twice("linear", "linear:comment", () => posted)),
      ...others(),
    );
    await surfaces.untilFinished(id);
    for (const [rail, tries] of Object.entries(bodies)) {
      expect(tries, rail).toHaveLength(3);
      expect(new Set(tries).size, rail).toBe(1);
      expect(tries[0], rail).toContain("too expensive");
    }
    const { input } = JSON.parse(bodies.linear[0]!) as Comment;
    expect(input.id).toMatch(/^[0-9a-f-]{36}$/);
    // The archive proves the same of each try.
    const proven = await rowsOf<{ effect: string; hashes: number; tries: number }>(
      surfaces.superuser,
      `select m.idempotency_key as effect, count(distinct a.sent_hash)::integer as hashes, count(a.sent_hash)::integer as tries
         from outbox.attempts a join outbox.payloads m on m.outbox_id = a.outbox_id
        where m.instruction_id = $1 and m.idempotency_key in ('slack:reply', 'linear:comment') group by 1 order by 1`,
      [`${id}#2`],
    );
    expect(proven).toEqual([
      { effect: "linear:comment", hashes: 1, tries: 3 },
      { effect: "slack:reply", hashes: 1, tries: 3 },
    ]);
  });

  test("what is erased while it waits is not sent, and waiting rows never contained anything of the customer", async () => {
    const [slack, linear] = [slackRail(), linearRail()];
    const { id } = await surfaces.create({ customer, justification: secret });
    await overHttp(surfaces.db, memberSession("rita"), (client) =>
      client.query("select public.note_capacity_request($1, $2)", [id, secret]),
    );
    await surfaces.apply(id, "COMMERCIAL_REJECTED", "cora", { payload: { reason: secret } });
    const before = await waiting(id);
    expect(before.map(({ effect }) => effect).toSorted()).toEqual([
      "linear:comment",
      "linear:comment",
      "linear:issue",
      "linear:state",
      "slack:reply",
      "slack:reply",
      "slack:root",
      "slack:root-update",
    ]);
    expect(before.filter(({ payload }) => /initech|org_1|Bill|hangs/i.test(payload))).toEqual([]);

    await overHttp(surfaces.db, memberSession("ada"), (client) =>
      client.query("select public.erase_customer($1, 'asked to')", [id]),
    );
    await surfaces.relay(slack, linear, ...others());
    await surfaces.untilFinished(id);
    const replies = sentFor<Reply>(slack, id).filter(({ thread_ts: thread }) => thread !== undefined);
    const comments = sentFor<Comment>(linear, id).filter(({ operation }) => operation === "commentCreate");
    expect([replies.length, comments.length]).toEqual([2, 2]);
    for (const said of [...replies, ...comments]) expect(JSON.stringify(said)).toContain("(erased)");
    expect(JSON.stringify([slack.sent, linear.sent].flat().filter(({ key }) => key?.startsWith(id)))).not.toMatch(
      /initech|org_1|Bill|hangs/i,
    );
  });

  test("rows of an earlier release, which contain the whole message, are sent unchanged", async () => {
    const [slack, linear] = [slackRail(), linearRail()];
    const { id } = await surfaces.create({ customer });
    const reply = { method: "chat.postMessage", channel: "C0CAPACITY", text: `${id}: as it was said`, blocks: [] };
    const comment = {
      operation: "commentCreate",
      input: { id: "7e57c0de-0000-4000-8000-000000000000", body: "as it was said" },
    };
    const add = (surface: "slack" | "linear", effect: string, payload: object, binds: object) =>
      rowsOf(
        surfaces.superuser,
        "select outbox.add_row(false, 'acme', 'capacity', $1, $2, $3, $4, $5, p_destination => $6, p_binds => $7)",
        [
          `${id}:${surface}`,
          `${id}#2`,
          effect,
          surface,
          JSON.stringify(payload),
          surface === "slack" ? "slack:C0CAPACITY" : "linear",
          JSON.stringify(binds),
        ],
      );
    await add("slack", "slack:reply", reply, [{ path: ["thread_ts"], capture: "slack_thread_ts", required: true }]);
    await add("linear", "linear:comment", comment, [
      { path: ["input", "issueId"], capture: "linear_issue_id", required: true },
    ]);
    await surfaces.relay(slack, linear, ...others());
    await surfaces.untilFinished(id);
    expect(sentFor(slack, id)).toContainEqual({ ...reply, thread_ts: "1700000000.000001" });
    const issue = sentFor<Comment>(linear, id).find(({ operation }) => operation === "issueCreate")!.input.id;
    expect(sentFor(linear, id)).toContainEqual({ ...comment, input: { ...comment.input, issueId: issue } });
  });
});
