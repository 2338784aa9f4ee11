/**
 * Erasing a customer: what is removed, what stays, and that the chain can still be verified. Messages are brought into every state:
 * delivered, waiting, given up. In flight: erasure-finish.test.ts.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { customer, eraseText, startErasing, type Erasure, ofRequest } from "./erasing.ts";
import { anonymous, memberSession, service } from "../gateway.ts";
import { digestsOf, tracesOf } from "../traces.ts";
import { codeOf, oneOf, refusalOf, rowsOf, type RequestInput } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("erasure on PostgreSQL %i", async (version) => {
  const erasing = await startErasing(version);
  const { workflow } = erasing;
  const { db, superuser } = workflow;

  /** What is still found of the customer, and where. */
  async function traces(id: string): Promise<string[]> {
    const found = await rowsOf<{ place: string }>(
      superuser,
      `select 'payload of ' || r.name as place from outbox.payloads m join outbox.rails r using (rail_id)
        where ${ofRequest} and m.payload::text ~* 'initech|tpsreport'
       union all select 'personal data' from capacity.personal_data d
                  where d.request_id = $1 and (d.customer_ref is not null or d.justification is not null or d.salt is not null)
       union all select 'event' from capacity.events e where e.request_id = $1 and e::text ~* 'initech|tpsreport'
       union all select 'request' from capacity.requests r where r.id = $1 and r::text ~* 'initech|tpsreport'
       union all select 'notification' from notify.notifications n where n.about = $1 and n::text ~* 'initech|tpsreport'
       union all select 'view' from public.capacity_requests v where v.id = $1 and (v.customer_ref is not null or v.justification is not null)`,
      [id],
    );
    return [...new Set(found.map((row) => row.place))].toSorted();
  }

  test("what was delivered and what is kept loses the customer, and the chain stays whole", async () => {
    const id = await erasing.offer({ justification: "The TPSreport is due." });
    await erasing.deliver();
    expect(await traces(id)).toEqual(
      expect.arrayContaining(["notification", "payload of email", "personal data", "view"]),
    );
    const before = await rowsOf<{ hash: Buffer }>(
      superuser,
      "select hash from capacity.events where request_id = $1 order by seq",
      [id],
    );

    const erasure = await erasing.erase(id);
    expect(erasure).toMatchObject({ request_id: id, erased_by: "ada", messages: { skipped: 0, waiting: 0 } });
    expect(erasure.messages.erased).toBeGreaterThan(4);
    expect(await traces(id)).toEqual([]);
    expect(
      await rowsOf(superuser, "select hash from capacity.events where request_id = $1 order by seq", [id]),
    ).toEqual(before);
    expect(
      await oneOf(superuser, "select requested_by, via, why, waiting from capacity.erasures where request_id = $1", [
        id,
      ]),
    ).toEqual({ requested_by: "ada", via: "api", why: "asked to", waiting: 0 });
    await erasing.expectVerified(id);
  });

  test("a repeat changes nothing, and says who erased first, when and why", async () => {
    const id = await erasing.offer();
    await erasing.deliver();
    const first = await erasing.erase(id);
    expect(first).toMatchObject({ state: "done", why: "asked to" });
    expect(await erasing.erase(id, memberSession("ada"), "again")).toEqual(first);
    await erasing.expectVerified(id);
  });

  test("no table keeps the name, the address, what people wrote, or a digest that a guess could be compared with", async () => {
    const words = ["initech", "tpsreport", "zugzwang", "rubicon", "bill@", "quixotic"];
    const justification = "Bill is quixotic";
    const id = await erasing.offer({ key: "order of bill@initech", justification });
    await erasing.note(id, "Initech plays zugzwang with us");
    await erasing.deliver();
    await workflow.apply(id, "CUSTOMER_DECLINED", "cora", {
      payload: { reason: "Bill of Initech crossed the rubicon" },
    });
    await erasing.deliver({ email: "rejected" }, "550 5.1.1 <bill@initech.example>: no such Initech mailbox");
    // A timer that failed on the request quoted the data it failed on.
    await superuser.query(
      `insert into capacity.timer_failures (request_id, timer, error_code, message, retry_at)
       values ($1, 'reminder', '22P02', 'invalid input syntax for type json: Initech', now())`,
      [id],
    );
    const contents = await rowsOf<{ content: string; salted: Buffer }>(
      superuser,
      `select m.payload::text as content, sha256(uuid_send(d.salt) || convert_to(m.payload::text, 'UTF8')) as salted
         from outbox.payloads m join outbox.dedupe d using (outbox_id, instruction_id) where ${ofRequest}
       union all
       select d.customer_ref::text, capacity.personal_hash(d) from capacity.personal_data d where d.request_id = $1
       union all
       select t.content::text, t.hash from capacity.free_texts t where t.request_id = $1`,
      [id],
    );
    const guesses = digestsOf([
      ...contents.map(({ content }) => content),
      "Initech plays zugzwang with us",
      "Bill of Initech crossed the rubicon",
      justification,
    ]);
    const fingerprint = "select encode(fingerprint, 'hex') as hex from capacity.submissions where request_id = $1";
    const { hex } = await oneOf<{ hex: string }>(superuser, fingerprint, [id]);

    // Proves that the search works: it finds the words, and the salted hashes.
    expect(await tracesOf(db, words)).toEqual(
      expect.arrayContaining([
        "capacity.free_texts",
        "capacity.personal_data",
        "capacity.timer_failures",
        "outbox.payloads",
      ]),
    );
    expect(
      await tracesOf(
        db,
        contents.map(({ salted }) => salted.toString("hex")),
      ),
    ).toEqual(
      expect.arrayContaining([
        "capacity.events",
        "capacity.notices",
        "outbox.attempts",
        "outbox.dedupe",
        "outbox.payloads",
      ]),
    );
    expect(await tracesOf(db, [hex])).toEqual(["capacity.submissions"]);

    expect(await erasing.erase(id)).toMatchObject({ state: "done", texts: 2 });
    for (const other of await rowsOf<{ id: string }>(superuser, "select id from capacity.requests where id <> $1", [
      id,
    ])) {
      await erasing.erase(other.id);
    }
    expect(await tracesOf(db, words)).toEqual([]);
    expect(await tracesOf(db, [...guesses, ...digestsOf(["order of bill@initech"]), hex])).toEqual([]);
    expect(await codeOf(workflow.create({ customer, key: "order of bill@initech", justification }))).toBe(
      "idempotency_conflict",
    );
    expect(
      await rowsOf(
        superuser,
        `select 'salt' from outbox.dedupe where ${ofRequest} and salt is not null
         union all select 'salt' from capacity.free_texts where request_id = $1 and salt is not null`,
        [id],
      ),
    ).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("readers see that words were erased, wherever they were", async () => {
    const read = (id: string) =>
      oneOf<{ story: Story }>(superuser, "select public.get_capacity_request($1) as story", [id]);
    interface Story {
      readonly request: { readonly cancellation_reason: string; readonly customer_ref: unknown };
      readonly history: readonly { readonly payload: unknown }[];
      readonly notices: readonly { readonly body: string }[];
      readonly erasure: unknown;
    }
    const id = await erasing.offer();
    await erasing.note(id, "hello");
    await workflow.apply(id, "CUSTOMER_DECLINED", "cora", { payload: { reason: "Too expensive" } });
    expect(await workflow.row(id)).toMatchObject({ cancellation_reason: "Too expensive" });
    const { story: before } = await read(id);
    expect(before).toMatchObject({ request: { cancellation_reason: "Too expensive" }, erasure: null });
    expect(before.history.at(-1)?.payload).toEqual({ on_behalf_of: "customer", reason: "Too expensive" });
    expect(before.notices).toMatchObject([{ body: "hello" }]);

    await erasing.deliver();
    const erasure = await erasing.erase(id);
    const { story } = await read(id);
    expect(story).toMatchObject({ request: { cancellation_reason: "(erased)", customer_ref: null }, erasure });
    expect(story.history.at(-1)?.payload).toEqual({ on_behalf_of: "customer", reason: "(erased)" });
    expect(story.notices).toMatchObject([{ body: "(erased)" }]);
    const repeat = "select (public.apply_capacity_event($1, 'CUSTOMER_DECLINED', 'user', 'cora')).cancellation_reason";
    expect(await oneOf(superuser, repeat, [id])).toEqual({ cancellation_reason: "(erased)" });
    await erasing.expectVerified(id);
  });

  test("the error of a failed provisioning is erased like a reason", async () => {
    const id = await workflow.createIn("PROVISIONING", { customer });
    const error = { host: "db-initech", lines: ["no room"] };
    await workflow.apply(id, "PROVISIONING_FAILED", "otto", { payload: { error, step: "boot", reason: null } });
    const shown =
      "select payload from public.capacity_request_events where capacity_request_id = $1 order by seq desc limit 1";
    expect(await oneOf(superuser, shown, [id])).toEqual({ payload: { error, step: "boot" } });
    await erasing.deliver();
    expect(await erasing.erase(id)).toMatchObject({ state: "done", texts: 1 });
    expect(await oneOf(superuser, shown, [id])).toEqual({ payload: { error: "(erased)", step: "boot" } });
    await erasing.expectVerified(id);
  });

  test("what is written after an erasure stays, until the next erasure", async () => {
    const id = await erasing.offer();
    await erasing.deliver();
    const first = await erasing.erase(id);
    await erasing.note(id, "said later");
    await erasing.deliver();
    await superuser.query("select public.run_capacity_request_timers()");
    const bodies =
      "select capacity.free_text(request_id, body_hash) as body from capacity.notices where request_id = $1";
    expect(await rowsOf(superuser, bodies, [id])).toEqual([{ body: "said later" }]);
    expect(await erasing.erase(id)).toMatchObject({
      texts: first.texts + 1,
      erased_at: first.erased_at,
      state: "done",
    });
    expect(await rowsOf(superuser, bodies, [id])).toEqual([{ body: "(erased)" }]);
  });

  test("where payloads were collected already, the salts of their hashes go", async () => {
    const id = await erasing.offer();
    await erasing.deliver();
    const salts = `select count(*)::integer as left from outbox.dedupe where ${ofRequest} and salt is not null`;
    // Rolled back: messages without their payloads would be a finding.
    const client = await db.superuser.connect();
    await client.query("begin");
    await client.query(`delete from outbox.payloads where ${ofRequest}`, [id]);
    expect(await oneOf(client, salts, [id])).not.toEqual({ left: 0 });
    const { erasure } = await oneOf<{ erasure: Erasure }>(client, eraseText, [id, "asked to", "ada"]);
    expect(erasure).toMatchObject({ state: "done", messages: { erased: 0, skipped: 0, waiting: 0 } });
    expect(await oneOf(client, salts, [id])).toEqual({ left: 0 });
    await client.query("rollback");
  });

  test("waiting mail is given up, so that it is never sent", async () => {
    const id = await erasing.offer();
    await erasing.deliver({ email: "retry" });
    const erasure = await erasing.erase(id);
    expect(erasure.messages).toMatchObject({ skipped: 1, waiting: 0 });
    expect(await traces(id)).toEqual([]);
    await erasing.makeDue();
    expect(await erasing.claim()).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("dead letters are given up too", async () => {
    const id = await erasing.offer();
    await erasing.deliver({ slack: "rejected", email: "rejected" });
    const erasure = await erasing.erase(id);
    expect(erasure.messages.skipped).toBeGreaterThan(1);
    expect(await traces(id)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("later events of the request contain nothing of the customer, and mail nobody", async () => {
    const id = await erasing.offer();
    await erasing.deliver();
    await erasing.erase(id);
    await workflow.apply(id, "CUSTOMER_CONFIRMED", "cora");
    await workflow.apply(id, "PROVISIONING_COMPLETE", "otto");
    expect(await traces(id)).toEqual([]);
    const [, , , ...after] = await workflow.events<{ effects: string[] }>(id);
    expect(after.flatMap((event) => event.effects).filter((effect) => effect === "tell:customer")).toEqual([]);
    await erasing.deliver();
    await erasing.expectVerified(id);
  });

  test("notices are erased like events", async () => {
    const id = await erasing.offer();
    await erasing.note(id, "hello");
    await erasing.deliver();
    const { messages } = await erasing.erase(id);
    const { count } = await oneOf<{ count: number }>(
      superuser,
      `select count(*) from outbox.payloads m where ${ofRequest} and m.payload is null`,
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

  test("other requests keep their data, even one whose id begins with the same characters", async () => {
    const kept = await erasing.offer();
    const erased = await erasing.offer();
    await erasing.deliver();
    const before = await traces(kept);
    await erasing.erase(erased);
    expect(await traces(kept)).toEqual(before);
  });

  test.each([
    ["a justification", { justification: "The TPSreport is due." }],
    ["nothing to erase", {}],
  ])("a request that never had a customer can be erased as well, with %s", async (_what, input) => {
    const id = await workflow.createIn("UNDER_REVIEW", { customer: null, ...input });
    await erasing.deliver();
    expect(await erasing.erase(id)).toMatchObject({ erased_by: "ada" });
    expect(await traces(id)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("the hash of the submission is made unusable, so a repeat is refused and not answered", async () => {
    const input: RequestInput = { customer, key: `key-${version}` };
    const { id } = await workflow.create(input);
    expect((await workflow.create(input)).id).toBe(id);
    await erasing.erase(id);
    expect(await codeOf(workflow.create(input))).toBe("idempotency_conflict");
    await erasing.deliver();
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
      id = await erasing.offer();
    });

    test.each([
      ["the requester", memberSession("rita"), null, "not_allowed"],
      ["the commercial owner", memberSession("cora"), null, "not_allowed"],
      ["a VP, who does not know of it", memberSession("vera"), null, "not_found"],
      ["an operator, who cannot see it yet", memberSession("otto"), null, "not_found"],
      ["an auditor", memberSession("aude"), null, "not_allowed"],
      ["a member who names an admin", memberSession("rita"), "ada", "not_allowed"],
      ["an admin of another workspace", memberSession("rita", "globex"), null, "not_found"],
      ["a service for somebody who is no admin", service, "rita", "not_allowed"],
      ["a service for nobody", service, null, "invalid_input"],
    ] as const)("to %s", async (_who, session, actor, code) => {
      expect(await codeOf(erasing.erase(id, session, "asked to", actor))).toBe(code);
      expect(await traces(id)).toContain("personal data");
    });

    test("to anon, who cannot even call it", async () => {
      expect(await refusalOf(erasing.erase(id, anonymous))).toMatchObject({ code: "42501" });
    });

    test.each([
      ["no reason", null],
      ["a blank one", " \n "],
      ["one that is too long", "x".repeat(2001)],
    ])("with %s", async (_what, why) => {
      expect(await codeOf(erasing.erase(id, memberSession("ada"), why))).toBe("invalid_input");
      expect(await traces(id)).toContain("personal data");
    });

    test("for a request that does not exist", async () => {
      expect(await codeOf(erasing.erase("CR-2020-000001"))).toBe("not_found");
      expect(await codeOf(erasing.erase(null))).toBe("not_found");
      expect(await codeOf(erasing.erase("CR-2020-000001", service, "asked to", "ada"))).toBe("not_found");
    });

    test("immediately, while a decision holds the request", async () => {
      const [one, other] = await db.twoConnections("headroom_control");
      await one.query("begin");
      await one.query("select public.apply_capacity_event($1, 'CUSTOMER_CONFIRMED', 'user', 'cora')", [id]);
      // A caller who waited for the request would fail because it is locked (55P03).
      await other.query("set lock_timeout = '200ms'");
      expect(await codeOf(other.query(eraseText, [id, "asked to", "cora"]))).toBe("not_allowed");
      await one.query("rollback");
    });

    test("and is allowed for an admin whom a service or an operator names", async () => {
      const other = await erasing.offer();
      expect(await erasing.erase(other, service, "asked to", "U0ADA")).toMatchObject({ erased_by: "ada" });
      const control = db.as("headroom_control").pool;
      expect(await codeOf(control.query(eraseText, [id, "asked to", "rita"]))).toBe("not_allowed");
      const { erasure } = await oneOf<{ erasure: Erasure }>(control, eraseText, [id, "asked to", "ada"]);
      expect(erasure.erased_by).toBe("ada");
    });
  });
});
