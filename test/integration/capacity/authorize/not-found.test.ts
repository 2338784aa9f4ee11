/**
 * What people find out about a request that they may not read: nothing. Every entrance gives the same answer for a request that does not
 * exist, one of another workspace, and one that they may not read.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../gateway.ts";
import { refusalOf, rowsOf, startWorkflow } from "../harness.ts";

const absent = "CR-1999-000001";

const entrances: Readonly<Record<string, string>> = {
  get_capacity_request: "select public.get_capacity_request($1)",
  apply_capacity_event: "select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', null)",
  "apply_capacity_event for somebody else":
    "select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')",
  "apply_capacity_event as the system": "select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'system', 'x')",
  "apply_capacity_event with bad content":
    "select public.apply_capacity_event($1, 'CANCEL_APPROVED', 'user', null, '[]', 99)",
  decide_capacity_request: "select public.decide_capacity_request($1, 'TECH_REVIEW_APPROVED')",
  "decide_capacity_request of what was decided": "select public.decide_capacity_request($1, 'REQUEST_SUBMITTED')",
  "decide_capacity_request for somebody else":
    "select public.decide_capacity_request($1, 'TECH_REVIEW_APPROVED', 'tess')",
  get_capacity_receipt: "select public.get_capacity_receipt($1)",
  "get_capacity_receipt of an event": "select public.get_capacity_receipt($1, 1)",
  "get_capacity_receipt of an event that does not exist": "select public.get_capacity_receipt($1, 99)",
  nudge_capacity_request: "select public.nudge_capacity_request($1)",
  "nudge_capacity_request for somebody else": "select public.nudge_capacity_request($1, 'rita')",
  note_capacity_request: "select public.note_capacity_request($1, 'hello')",
  "note_capacity_request with bad content": "select public.note_capacity_request($1, '')",
  erase_customer: "select public.erase_customer($1, 'asked to')",
  "erase_customer with bad content": "select public.erase_customer($1, '')",
  "erase_customer for somebody else": "select public.erase_customer($1, 'asked to', 'ada')",
};

/** By a service key, for a member who may not read the request. */
const forSomebodyElse: readonly string[] = [
  "select public.nudge_capacity_request($1, 'nobody')",
  "select public.note_capacity_request($1, 'hello', 'nobody')",
  "select public.set_customer_address($1, 'it@initech.example', 'nobody')",
  "select public.send_confirmation_link($1, 'nobody')",
  "select public.erase_customer($1, 'asked to', 'nobody')",
];

describe.each(POSTGRES_VERSIONS)("a request that the caller may not read on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  let id: string;

  beforeAll(async () => {
    ({ id } = await workflow.create());
  });

  /** The whole answer, without the id that was asked for. */
  async function answerTo(session: Session, text: string, asked: string): Promise<unknown> {
    const refusal = await refusalOf(overHttp(workflow.db, session, (client) => rowsOf(client, text, [asked])));
    const { code, message, detail, hint } = refusal;
    return JSON.parse(JSON.stringify({ code, message, detail, hint }).replaceAll(asked, "<id>"));
  }

  test.each(Object.entries(entrances))("looks to %s like one that does not exist", async (_entrance, text) => {
    const before = await workflow.size();
    const answer = {
      code: "PT404",
      message: "There is no such request, or you may not see it.",
      detail: "not_found: <id>",
      hint: "Check the id; it looks like CR-2026-000042.",
    };
    // Carl and Otto are in the workspace but unrelated to the request; Glen has every role, in another workspace.
    for (const session of [memberSession("carl"), memberSession("otto"), memberSession("glen", "globex")]) {
      expect(await answerTo(session, text, id)).toEqual(answer);
      expect(await answerTo(session, text, absent)).toEqual(answer);
    }
    expect(await answerTo(service, text, absent)).toEqual(answer);
    expect(await workflow.size()).toEqual(before);
  });

  test.each(forSomebodyElse)("does not exist for a member for whom a service calls: %s", async (text) => {
    const before = await workflow.size();
    for (const member of ["carl", "otto"]) {
      const call = text.replace("nobody", member);
      const answer = await answerTo(service, call, id);
      expect(answer).toMatchObject({ code: "PT404", detail: "not_found: <id>" });
      expect(await answerTo(service, call, absent)).toEqual(answer);
    }
    expect(await workflow.size()).toEqual(before);
  });

  test("is not described to an operator for whom a service comes too late", async () => {
    const { id: review } = await workflow.create();
    await workflow.apply(review, "COMMERCIAL_APPROVED", "cora");
    const early = "select public.decide_capacity_request($1, 'PROVISIONING_COMPLETE', 'otto')";
    const answer = await answerTo(service, early, review);
    expect(answer).toMatchObject({ detail: expect.stringContaining("invalid_transition") });
    expect(JSON.stringify(answer)).not.toMatch(/cora|ago/i);
    // An admin may read it, and is told what happened instead.
    expect(await answerTo(service, early.replace("otto", "ada"), review)).toMatchObject({
      message: expect.stringContaining("Cora approved"),
    });
  });

  test("cannot be held up by deciding it: a caller who may not read it neither waits nor blocks", async () => {
    const client = await workflow.db.superuser.connect();
    await client.query("begin");
    await client.query("select from capacity.requests where id = $1 for update", [id]);
    for (const text of Object.values(entrances)) {
      const attempt = overHttp(workflow.db, memberSession("carl"), async (stranger) => {
        // A caller who waited for the request would fail because it is locked (55P03).
        await stranger.query("set local lock_timeout = '200ms'");
        await stranger.query(text, [id]);
      });
      expect(await refusalOf(attempt)).toMatchObject({ code: "PT404" });
    }
    await client.query("rollback");
  });
});
