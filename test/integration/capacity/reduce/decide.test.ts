/**
 * Deciding through decide_capacity_request(): the same rules as apply_capacity_event(), and an answer that says who decided.
 */
import { describe, expect, test } from "vitest";
import { decide } from "../../../../src/capacity/index.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../gateway.ts";
import type { EventType } from "./model.ts";
import { codeOf, oneOf, refusalOf, refusedAs, rowsOf, startWorkflow, type RequestRow } from "../harness.ts";

interface Decision {
  readonly request: RequestRow;
  readonly repeated: boolean;
  readonly counts: boolean;
  readonly decided_by: string;
  readonly decided_at: string;
  readonly decided_via: string;
  readonly answered_at: string;
}

describe.each(POSTGRES_VERSIONS)("a decision on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;

  const decideAs = async (session: Session, id: string, event: EventType, actor: string | null = null) =>
    overHttp(db, session, async (client) => {
      const text = "select public.decide_capacity_request($1, $2, $3) as decision";
      return (await oneOf<{ decision: Decision }>(client, text, [id, event, actor])).decision;
    });

  test("that is made now is the caller's, at the time of its event", async () => {
    const { id } = await workflow.create();
    const decision = await decideAs(memberSession("cora"), id, "COMMERCIAL_APPROVED");
    expect(decision).toMatchObject({
      request: { id, state: "UNDER_REVIEW", version: 2, commercial_approved_by: "cora" },
      repeated: false,
      counts: true,
      decided_by: "cora",
    });
    const row = await workflow.row(id);
    expect(new Date(decision.decided_at)).toEqual(row.commercial_approved_at);
    const shown = await oneOf<{ row: unknown }>(
      workflow.superuser,
      "select to_jsonb(r) as row from public.capacity_requests r where r.id = $1",
      [id],
    );
    expect(decision.request).toEqual(shown.row);
  });

  test("that was made before is answered with who made it and when, whoever repeats it and in every state", async () => {
    const { id } = await workflow.create();
    const first = await decideAs(memberSession("tess"), id, "TECH_REVIEW_APPROVED");
    const before = await workflow.size();
    for (const [session, actor] of [
      [memberSession("tess"), null],
      [memberSession("tim"), "U0TIM"],
      [memberSession("rita"), null],
      [service, "tim"],
    ] as const) {
      expect(await decideAs(session, id, "TECH_REVIEW_APPROVED", actor)).toMatchObject({
        request: { id, version: 2 },
        repeated: true,
        counts: true,
        decided_by: "tess",
        decided_at: first.decided_at,
        decided_via: "api",
        answered_at: expect.stringMatching(/^20/),
      });
    }
    expect(await workflow.size()).toEqual(before);
    await workflow.apply(id, "CANCEL_APPROVED", "ada");
    expect(await decideAs(memberSession("tim"), id, "TECH_REVIEW_APPROVED")).toMatchObject({
      request: { state: "CANCELLED" },
      repeated: true,
      decided_by: "tess",
    });
  });

  test("below the required authority is an endorsement, and says so also when it is repeated", async () => {
    await workflow.addPolicy({ id: "large", kind: "escalation", min_monthly_cost_usd: 90_000, approver_role: "vp" });
    const { id } = await workflow.create({ cost: 100_000 });
    for (const repeated of [false, true]) {
      expect(await decideAs(memberSession("cora"), id, "COMMERCIAL_APPROVED")).toMatchObject({
        request: { commercial_endorsed_by: "cora", commercial_approved_by: null },
        repeated,
        counts: false,
        decided_by: "cora",
      });
    }
    expect(await decideAs(memberSession("vera"), id, "COMMERCIAL_APPROVED")).toMatchObject({
      repeated: false,
      counts: true,
      decided_by: "vera",
    });
    expect(await decideAs(memberSession("cora"), id, "COMMERCIAL_APPROVED")).toMatchObject({
      repeated: true,
      counts: true,
      decided_by: "vera",
    });
  });

  test("that lost a race is refused with who won, when, and through which entrance", async () => {
    const { id } = await workflow.create();
    await overHttp(db, service, (client) =>
      client.query("select decide_capacity_request($1, 'TECH_REVIEW_REJECTED', 'tess', '{\"reason\": \"no room\"}')", [
        id,
      ]),
    );
    const tries: (readonly [Session, EventType])[] = [
      [memberSession("tim"), "TECH_REVIEW_APPROVED"],
      [memberSession("cora"), "COMMERCIAL_APPROVED"],
      [memberSession("rita"), "CANCEL_APPROVED"],
    ];
    for (const [session, event] of tries) {
      const refusal = await refusalOf(decideAs(session, id, event));
      expect(refusal).toMatchObject(
        refusedAs("invalid_transition", "state REJECTED, since event TECH_REVIEW_REJECTED"),
      );
      expect(refusal.message).toBe(`${id} is rejected. Tess rejected the request in the technical review.`);
      expect(refusal.hint).toMatch(/^That was \d+ seconds? ago, by a service\. Nothing was changed\.$/);
    }
  });

  test.each([
    ["0 seconds", "slack", "0 seconds ago, in Slack"],
    ["1 second", "web", "1 second ago, in the browser"],
    ["119 seconds", "cli:olga", "119 seconds ago, at the command line"],
    ["2 minutes", "linear", "2 minutes ago, in Linear"],
    ["119 minutes", "api", "119 minutes ago, over the API"],
    ["1 minute", "rule", "60 seconds ago"],
    ["-1 hour", "link", "0 seconds ago, by the customer's link"],
  ])("%s ago by %s", async (ago, via, words) => {
    const said = await oneOf<{ words: string }>(
      workflow.superuser,
      "select capacity.when_and_where(now() - $1::interval, $2, now()) as words",
      [ago, via],
    );
    expect(said.words).toBe(words);
  });

  test("follows the rules of apply_capacity_event: who may decide, which version, and which reason", async () => {
    const { id } = await workflow.create();
    const before = await workflow.size();
    expect(await codeOf(decideAs(memberSession("rita"), id, "COMMERCIAL_APPROVED"))).toBe("not_allowed");
    expect(await codeOf(decideAs(memberSession("rita"), id, "COMMERCIAL_APPROVED", "cora"))).toBe("not_allowed");
    expect(await codeOf(decideAs(memberSession("carl"), id, "COMMERCIAL_APPROVED"))).toBe("not_found");
    expect(await codeOf(decideAs(service, id, "COMMERCIAL_APPROVED"))).toBe("invalid_input");
    expect(await codeOf(decideAs(service, id, "COMMERCIAL_APPROVED", "carl"))).toBe("not_allowed");
    expect(await codeOf(decideAs(memberSession("cora"), id, "COMMERCIAL_REJECTED"))).toBe("invalid_payload");
    const stale = db
      .as("headroom_control")
      .pool.query("select public.decide_capacity_request($1, 'COMMERCIAL_APPROVED', 'cora', '{}', 7)", [id]);
    expect(await codeOf(stale)).toBe("stale_version");
    expect(await workflow.size()).toEqual(before);
  });

  test("that asks the customer shows nobody the id of their link: not in its answer, nor in the log or the story", async () => {
    const { id } = await workflow.create();
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    const shown: unknown[] = [await decideAs(memberSession("tess"), id, "TECH_REVIEW_APPROVED")];
    for (const session of [memberSession("ada"), memberSession("cora"), service]) {
      for (const text of [
        "select e::text from public.capacity_request_events e where e.capacity_request_id = $1",
        "select r::text from public.capacity_requests r where r.id = $1",
        "select public.get_capacity_request($1)::text",
      ]) {
        const rows = await overHttp(db, session, (client) => rowsOf(client, text, [id]));
        expect(rows.length).toBeGreaterThan(0);
        shown.push(...rows);
      }
    }
    const [, , asked] = await workflow.events<{ payload: { confirmation_token_id: string } }>(id);
    const { confirmation_token_id: tokenId } = asked!.payload;
    expect(tokenId).toMatch(/^[0-9a-f-]{36}$/);
    expect(JSON.stringify(shown)).not.toMatch(new RegExp(`${tokenId}|confirmation_token_id`));
  });

  test("of two at the same instant one is made, and the other caller is told by whom", async () => {
    const { id } = await workflow.create();
    const [one, other] = await db.twoConnections("headroom_control");
    const as = (name: string): [string, string[]] => [
      "select public.decide_capacity_request($1, 'TECH_REVIEW_APPROVED', $2) as decision",
      [id, name],
    ];
    await one.query("begin");
    await one.query(...as("tess"));
    const second = oneOf<{ decision: Decision }>(other, ...as("tim"));
    await db.waitUntilBlocked(other);
    await one.query("commit");
    expect((await second).decision).toMatchObject({ repeated: true, decided_by: "tess", request: { version: 2 } });
  });

  test("is one call for programs too, which see from the answer whether it was theirs", async () => {
    const { id } = await workflow.create();
    const texts: string[] = [];
    const { pool } = db.as("headroom_control");
    const counted: Parameters<typeof decide>[0] = {
      query: (query) => {
        texts.push(query.text);
        return pool.query(query);
      },
    };
    // By Slack id: the log names the member, so comparing names would mistake a first decision for a repeat, or the opposite.
    expect(await decide(counted, id, { type: "TECH_REVIEW_APPROVED" }, { as: "U0TESS" })).toMatchObject({
      outcome: "decided",
      counts: true,
      decidedBy: "tess",
      decidedAt: expect.any(Date),
      request: { id, version: 2 },
    });
    expect(await decide(counted, id, { type: "TECH_REVIEW_APPROVED" }, { as: "U0TIM" })).toMatchObject({
      outcome: "repeated",
      decidedBy: "tess",
    });
    expect(await decide(counted, "CR-1999-000001", { type: "CUSTOMER_CONFIRMED" }, { as: "cora" })).toMatchObject({
      outcome: "refused",
      code: "not_found",
    });
    expect(texts).toHaveLength(3);
  });
});
