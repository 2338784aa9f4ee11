/** Recent events: row-level security decides, and an answer states correctly how complete it is. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../gateway.ts";
import { until } from "../../outbox/relay/stage.ts";
import { oneOf, refusalOf, startWorkflow } from "../harness.ts";

interface Answer {
  readonly at: number;
  readonly xmin: string;
  readonly next: string;
  readonly events: readonly {
    readonly capacity_request_id: string;
    readonly at: number;
    readonly workspace_id: string;
  }[];
}

describe.each(POSTGRES_VERSIONS)("recent events on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;

  const recent = (session: Session, since = 0, limit = 500): Promise<Answer> =>
    overHttp(db, session, async (client) => {
      const { answer } = await oneOf<{ answer: Answer }>(
        client,
        "select public.recent_capacity_events($1, $2) as answer",
        [since, limit],
      );
      return answer;
    });

  test("each member gets what they may read, a service everything, and nobody else anything", async () => {
    const { id } = await workflow.create({ requester: "rita" });
    const other = await workflow.create({ requester: "rob", owner: "carl", group: "infra-eu" });
    const ids = async (session: Session) =>
      new Set((await recent(session)).events.map((event) => event.capacity_request_id));
    expect(await ids(memberSession("rita"))).toEqual(new Set([id]));
    expect(await ids(memberSession("carl"))).toEqual(new Set([other.id]));
    expect(await ids(memberSession("ada"))).toEqual(new Set([id, other.id]));
    expect(await ids(memberSession("glen", "globex"))).toEqual(new Set());
    expect(await ids(service)).toEqual(new Set([id, other.id]));
    expect(await refusalOf(recent(anonymous))).toMatchObject({ code: "42501" });
  });

  test("members do not see how many transactions there were, since others make them too", async () => {
    for (const member of ["rita", "ada"]) {
      expect(Object.keys(await recent(memberSession(member))).toSorted()).toEqual(["at", "events"]);
    }
  });

  test("pages are in order and begin at the requested time", async () => {
    const { events, at } = await recent(service);
    expect(events.map((event) => event.at)).toEqual(events.map((event) => event.at).toSorted((a, b) => a - b));
    const [first, second] = events;
    expect((await recent(service, second?.at)).events).toHaveLength(events.length - 1);
    expect((await recent(service, 0, 1)).events).toEqual([first]);
    expect((await recent(service, at + 1)).events).toEqual([]);
  });

  test("a running transaction is below next and not below xmin, even when none after it has ended", async () => {
    const client = await db.superuser.connect();
    await client.query("begin");
    const { id } = await workflow.create({}, client);
    const { xid } = await oneOf<{ xid: string }>(client, "select pg_current_xact_id()::text as xid");
    const during = await recent(service);
    expect(BigInt(during.next)).toBeGreaterThan(BigInt(xid));
    expect(BigInt(during.xmin)).toBeLessThanOrEqual(BigInt(xid));
    expect(during.events.map((event) => event.capacity_request_id)).not.toContain(id);
    await client.query("commit");
    await client.end();
    // Transactions of other databases on the same server count too, and may be older.
    const after = await until(
      () => recent(service),
      ({ xmin }) => BigInt(xmin) > BigInt(xid),
      "xmin to pass the transaction",
    );
    const late = after.events.find((event) => event.capacity_request_id === id);
    expect(late?.at).toBeLessThan(during.at);
  });
});
