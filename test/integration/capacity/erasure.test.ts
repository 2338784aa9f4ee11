/**
 * Erasing a customer: what is gone, what stays, and that the chain can be verified all the same. Messages are brought to
 * every place they can be in: delivered, waiting, in flight, given up.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { Engine, type Claimed, type Outcome, type Stream } from "../outbox/sql/engine.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "./gateway.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow, type RequestInput } from "./workflow.ts";

const customer = { name: "Initech Ltd", email: "bill@initech.example", org: "org_tpsreport" };

interface Erasure {
  readonly request_id: string;
  readonly erased_by: string;
  readonly erased_at: string;
  readonly messages: { readonly erased: number; readonly skipped: number; readonly waiting: number };
}

describe.each(POSTGRES_VERSIONS)("erasure on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const superuser = db.superuser.pool;
  const engine = new Engine(db);
  let stream: Stream;

  beforeAll(async () => {
    await engine.start();
    stream = await oneOf<Stream>(superuser, "select stream_id as id, name from outbox.streams where name = 'capacity'");
    await superuser.query(
      `update capacity.workspaces set public_url = 'https://acme.example', slack_channel_id = 'C0ACME', linear_team_id = 'team' where id = 'acme';
       insert into capacity.subscriptions (workspace_id, endpoint) values ('acme', 'crm');
       insert into capacity.members (workspace_id, id, display_name, roles) values ('acme', 'aude', 'Aude', '{auditor}')`,
    );
  });

  const eraseText = "select public.erase_customer($1, $2, $3) as erasure";
  const erase = (
    id: string | null,
    session: Session = memberSession("ada"),
    why: string | null = "asked to",
    actor: string | null = null,
  ) =>
    overHttp(
      db,
      session,
      async (client) => (await oneOf<{ erasure: Erasure }>(client, eraseText, [id, why, actor])).erasure,
    );

  /** A request that has mailed its customer, or is about to. */
  const offer = (input: RequestInput = {}): Promise<string> =>
    workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer, ...input });

  /** What of the customer is still to be found, in which places. */
  async function traces(id: string): Promise<string[]> {
    const found = await rowsOf<{ place: string }>(
      superuser,
      `select 'payload of ' || r.name as place from outbox.payloads m join outbox.rails r using (rail_id)
        where m.instruction_id ~ ('^' || $1 || '[#!]') and m.payload::text ~* 'initech|tpsreport'
       union all select 'personal data' from capacity.personal_data d where d.request_id = $1 and (d.customer_ref is not null or d.salt is not null)
       union all select 'event' from capacity.events e where e.request_id = $1 and e::text ~* 'initech|tpsreport'
       union all select 'request' from capacity.requests r where r.id = $1 and r::text ~* 'initech|tpsreport'
       union all select 'view' from public.capacity_requests v where v.id = $1 and v.customer_ref is not null`,
      [id],
    );
    return [...new Set(found.map((row) => row.place))].toSorted();
  }

  /** Lets all waiting be over: backoff, and the slots of channels that take one message a second. */
  async function makeDue(): Promise<void> {
    await superuser.query(
      "update outbox.destinations set next_slot_at = '-infinity', tail_at = '-infinity', open_until = null, failures = 0",
    );
    await engine.makeDue(stream);
  }

  /** Gives every message that is due the outcome that its rail is to have. */
  async function deliver(outcomes: Readonly<Record<string, Outcome>> = {}): Promise<Claimed[]> {
    for (let round = 0; round < 50; round += 1) {
      await makeDue();
      const rows = await engine.claim(stream);
      if (rows.length === 0) return rows;
      await engine.settle(
        stream,
        rows.map((row) => ({ row, outcome: outcomes[row.key?.split(":")[1] ?? ""] ?? "delivered" })),
      );
      if (rows.every((row) => outcomes[row.key?.split(":")[1] ?? ""] === "retry")) return rows;
    }
    throw new Error("The messages do not come to an end.");
  }

  async function expectVerified(id: string): Promise<void> {
    await workflow.expectWhole([id]);
    const verified = await oneOf<{ findings: unknown[] }>(
      db.as("headroom_auditor").pool,
      "select findings from capacity.verify_requests()",
    );
    expect(verified.findings).toEqual([]);
    await engine.assertInvariants();
  }

  test("what was delivered and what is kept loses the customer, and the chain stays whole", async () => {
    const id = await offer();
    await deliver();
    expect(await traces(id)).toEqual(
      expect.arrayContaining(["payload of email", "payload of slack", "personal data", "view"]),
    );
    const before = await rowsOf<{ hash: Buffer }>(
      superuser,
      "select hash from capacity.events where request_id = $1 order by seq",
      [id],
    );

    const erasure = await erase(id);
    expect(erasure).toMatchObject({ request_id: id, erased_by: "ada", messages: { skipped: 0, waiting: 0 } });
    expect(erasure.messages.erased).toBeGreaterThan(4);
    expect(await traces(id)).toEqual([]);
    expect(
      await rowsOf(superuser, "select hash from capacity.events where request_id = $1 order by seq", [id]),
    ).toEqual(before);
    expect(
      await oneOf(superuser, "select erased_by, erased_why from capacity.personal_data where request_id = $1", [id]),
    ).toEqual({
      erased_by: "ada",
      erased_why: "asked to",
    });
    await expectVerified(id);
  });

  test("mail that waits is given up, so that it is never sent", async () => {
    const id = await offer();
    await deliver({ email: "retry" });
    const erasure = await erase(id);
    expect(erasure.messages).toMatchObject({ skipped: 1, waiting: 0 });
    expect(await traces(id)).toEqual([]);
    await makeDue();
    expect(await engine.claim(stream)).toEqual([]);
    await expectVerified(id);
  });

  test("dead letters are given up too", async () => {
    const id = await offer();
    await deliver({ slack: "rejected", email: "rejected" });
    const erasure = await erase(id);
    expect(erasure.messages.skipped).toBeGreaterThan(1);
    expect(await traces(id)).toEqual([]);
    await expectVerified(id);
  });

  test("what is on its way is counted, arrives, and is erased by the next call", async () => {
    const id = await offer();
    const inFlight = await engine.claim(stream);
    expect(inFlight.length).toBeGreaterThan(0);
    const first = await erase(id);
    expect(first.messages.waiting).toBeGreaterThan(0);
    expect(await traces(id)).not.toContain("personal data");
    await engine.deliver(stream, inFlight);
    await deliver();
    const second = await erase(id, memberSession("ada"), "once more");
    expect(second).toMatchObject({ erased_at: first.erased_at, messages: { waiting: 0 } });
    expect(second.messages.erased).toBe(first.messages.waiting);
    expect(await traces(id)).toEqual([]);
    expect(await oneOf(superuser, "select erased_why from capacity.personal_data where request_id = $1", [id])).toEqual(
      { erased_why: "asked to" },
    );
    expect((await erase(id)).messages).toEqual({ erased: 0, skipped: 0, waiting: 0 });
    await expectVerified(id);
  });

  test("what happens to the request afterwards knows nothing of the customer, and mails nobody", async () => {
    const id = await offer();
    await deliver();
    await erase(id);
    await workflow.apply(id, "CUSTOMER_CONFIRMED", "cora");
    await workflow.apply(id, "PROVISIONING_COMPLETE", "otto");
    expect(await traces(id)).toEqual([]);
    const [, , , ...after] = await workflow.events<{ effects: string[] }>(id);
    expect(after.flatMap((event) => event.effects).filter((effect) => effect.startsWith("email"))).toEqual([]);
    await deliver();
    await expectVerified(id);
  });

  test("notices are erased like events", async () => {
    const id = await offer();
    await overHttp(db, memberSession("rita"), (client) =>
      client.query("select public.note_capacity_request($1, 'hello')", [id]),
    );
    await deliver();
    const { messages } = await erase(id);
    const { count } = await oneOf<{ count: number }>(
      superuser,
      "select count(*) from outbox.payloads m where m.instruction_id ~ ('^' || $1 || '[#!]') and m.payload is null",
      [id],
    );
    expect(messages.erased).toBe(count);
    expect(
      await rowsOf(
        superuser,
        "select from outbox.payloads m where m.instruction_id ~ ('^' || $1 || '[#!]') and m.payload is not null",
        [id],
      ),
    ).toEqual([]);
  });

  test("other requests keep what they have, also one whose id begins alike", async () => {
    const kept = await offer();
    const erased = await offer();
    await deliver();
    const before = await traces(kept);
    await erase(erased);
    expect(await traces(kept)).toEqual(before);
  });

  test("a request that never had a customer can be erased as well", async () => {
    const id = await workflow.createIn("UNDER_REVIEW", { customer: null });
    await deliver();
    expect(await erase(id)).toMatchObject({ erased_by: "ada" });
    await expectVerified(id);
  });

  test("the hash of the submission is made worthless, so a repeat is refused and not answered", async () => {
    const input: RequestInput = { customer, key: `key-${version}` };
    const { id } = await workflow.create(input);
    expect((await workflow.create(input)).id).toBe(id);
    await erase(id);
    expect(await codeOf(workflow.create(input))).toBe("idempotency_conflict");
    await deliver();
  });

  test("finds the submission of a request by index, however many there are", async () => {
    const client = await db.superuser.connect();
    await client.query("set enable_seqscan = off");
    const plan = await rowsOf(
      client,
      "explain update capacity.submissions s set fingerprint = '' where s.request_id = 'CR-2026-000001'",
    );
    expect(JSON.stringify(plan)).toContain("submissions_request");
  });

  describe("is refused", () => {
    let id: string;
    beforeAll(async () => {
      id = await offer();
    });

    test.each([
      ["the requester", memberSession("rita"), null, "not_allowed"],
      ["the commercial owner", memberSession("cora"), null, "not_allowed"],
      ["a VP, who does not know of it", memberSession("vera"), null, "not_found"],
      ["an operator, who does not know of it yet", memberSession("otto"), null, "not_found"],
      ["an auditor", memberSession("aude"), null, "not_allowed"],
      ["a member who names an admin", memberSession("rita"), "ada", "not_allowed"],
      ["an admin of another workspace", memberSession("rita", "globex"), null, "not_found"],
      ["a service for somebody who is no admin", service, "rita", "not_allowed"],
      ["a service for nobody", service, null, "invalid_input"],
    ] as const)("to %s", async (_who, session, actor, code) => {
      expect(await codeOf(erase(id, session, "asked to", actor))).toBe(code);
      expect(await traces(id)).toContain("personal data");
    });

    test("to anon, who cannot even call it", async () => {
      expect(await refusalOf(erase(id, anonymous))).toMatchObject({ code: "42501" });
    });

    test.each([
      ["no reason", null],
      ["a blank one", " \n "],
      ["one that is too long", "x".repeat(2001)],
    ])("with %s", async (_what, why) => {
      expect(await codeOf(erase(id, memberSession("ada"), why))).toBe("invalid_input");
      expect(await traces(id)).toContain("personal data");
    });

    test("for a request that is not there", async () => {
      expect(await codeOf(erase("CR-2020-000001"))).toBe("not_found");
      expect(await codeOf(erase(null))).toBe("not_found");
      expect(await codeOf(erase("CR-2020-000001", service, "asked to", "ada"))).toBe("not_found");
    });

    test("at once, while a decision holds the request", async () => {
      const [one, other] = await db.twoConnections("headroom_control");
      await one.query("begin");
      await one.query("select public.apply_capacity_event($1, 'CUSTOMER_CONFIRMED', 'user', 'cora')", [id]);
      // Somebody who waited for the request would be told that it is locked (55P03).
      await other.query("set lock_timeout = '200ms'");
      expect(await codeOf(other.query(eraseText, [id, "asked to", "cora"]))).toBe("not_allowed");
      await one.query("rollback");
    });

    test("and is done for an admin whom a service or an operator names", async () => {
      const other = await offer();
      expect(await erase(other, service, "asked to", "U0ADA")).toMatchObject({ erased_by: "ada" });
      const control = db.as("headroom_control").pool;
      expect(await codeOf(control.query(eraseText, [id, "asked to", "rita"]))).toBe("not_allowed");
      const { erasure } = await oneOf<{ erasure: Erasure }>(control, eraseText, [id, "asked to", "ada"]);
      expect(erasure.erased_by).toBe("ada");
    });
  });
});
