/**
 * Who may do what to which request, in which workspace: one table for reading and for everything else that the API offers. Every cell is
 * tried over a connection like PostgREST's. What the table does not list must be refused.
 *
 * Reading is also compared with capacity.may_read(), which functions use, and with capacity.judge(): everybody who may act on a request may
 * see it.
 */
import type { ClientBase } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { putPrice } from "../../billing/pricing.ts";
import { memberSession, overHttp, service } from "../gateway.ts";
import { moreMembers, sessions, table } from "./rls-table.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow } from "../harness.ts";

/** Acts through apply_capacity_event; the payload suits all of them. */
const acts = {
  commercial: "COMMERCIAL_APPROVED",
  technical: "TECH_REVIEW_APPROVED",
  answer: "CUSTOMER_CONFIRMED",
  provisioned: "PROVISIONING_COMPLETE",
  cancel: "CANCEL_APPROVED",
} as const;

const applyText = `select (public.apply_capacity_event($1, $2, 'user', null, '{"reason": "because"}')).version`;

const sees =
  (text: string, id: string) =>
  async (client: ClientBase): Promise<boolean> =>
    (await rowsOf(client, text, [id])).length > 0;

const calls =
  (text: string, ...values: unknown[]) =>
  (client: ClientBase): Promise<unknown> =>
    client.query(text, values);

/** What these requests have nothing of yet. */
const planted = {
  request_captures:
    "insert into capacity.request_captures (request_id, name, value) select id, 'slack_thread_ts', '1' from capacity.requests",
  free_texts: `insert into capacity.free_texts (request_id, hash, salt, content)
               select id, sha256(convert_to(id, 'UTF8')), gen_random_uuid(), '"x"' from capacity.requests`,
} as const;

/** In the order of the sessions, so that lists can be compared. */
const inOrder = (names: readonly string[]): string[] => Object.keys(sessions).filter((name) => names.includes(name));

describe.each(POSTGRES_VERSIONS)("who may do what on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const superuser = db.superuser.pool;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    await superuser.query(moreMembers);
    await putPrice(workflow, { size: "16XL" });
    const under = "UNDER_REVIEW" as const;
    const customerId = "initech";
    const own = await workflow.createIn(under, { customerId, requester: "cora", cost: 20_000 });
    await workflow.apply(own, "COMMERCIAL_APPROVED", "vera");
    await workflow.apply(own, "TECH_REVIEW_APPROVED", "tess");
    const made = [
      await workflow.createIn(under, { customerId }),
      await workflow.createIn(under, { customerId, requester: "rob", owner: "carl" }),
      await workflow.createIn(under, { customerId, owner: "carl", group: "infra-eu" }),
      await workflow.createIn(under, { customerId, cost: 20_000 }),
      await workflow.createIn(under, { customerId, cost: 200_000 }),
      await workflow.createIn(under, { customerId, requester: "cora", cost: 20_000 }),
      await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customerId }),
      await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customerId, size: "16XL" }),
      own,
      await workflow.createIn("PROVISIONING", { customerId }),
      await workflow.createIn(under, { customerId, requester: "gina", owner: "glen", workspace: "globex" }),
    ];
    Object.keys(table).forEach((name, index) => (ids[name] = made[index]!));
  });

  /**
   * Who succeeds, of all who try; the others must be refused, and for the right reason. A service that names no member gets 400, and what
   * the state does not allow is a conflict (409).
   */
  async function whoCan(work: (client: ClientBase) => Promise<unknown>): Promise<string[]> {
    const able: string[] = [];
    for (const [name, session] of Object.entries(sessions)) {
      const failure = await overHttp(db, session, work, { dryRun: true }).then(
        (result) => (result === false ? "refused" : undefined),
        (error: { code?: string; message: string }) => error.code ?? error.message,
      );
      if (failure === undefined) able.push(name);
      else expect(failure).toMatch(/^(PT40[01349]|42501|refused)$/);
    }
    return able;
  }

  describe.each(Object.entries(table))("with a request %s", (name, row) => {
    const readers = inOrder(row.readers);
    const membersOf = (names: readonly string[]): string[] => inOrder(names).filter((who) => who !== "service");

    test("its row, its customer and its history are seen by its readers", async () => {
      const id = ids[name]!;
      expect(await whoCan(sees("select id from public.capacity_requests where id = $1", id))).toEqual(readers);
      expect(
        await whoCan(
          sees("select id from public.capacity_requests where id = $1 and customer_ref ->> 'name' = 'Initech'", id),
        ),
      ).toEqual(readers);
      expect(
        await whoCan(sees("select id from public.capacity_requests where id = $1 and customer_id = 'initech'", id)),
      ).toEqual(readers);
      expect(
        await whoCan(sees("select id from public.capacity_request_events where capacity_request_id = $1", id)),
      ).toEqual(readers);
      expect(await whoCan(calls("select public.get_capacity_request($1)", id))).toEqual(readers);
    });

    test("metrics count it only for its readers", async () => {
      const id = ids[name]!;
      const { workspace_id } = await workflow.row(id);
      await superuser.query(
        `update capacity.requests set estimated_monthly_cost_usd = 987654321, offer = jsonb_set(offer, '{monthly_usd}', '987654321')
          where id = $1`,
        [id],
      );
      const open = ["UNDER_REVIEW", "CUSTOMER_CONFIRMATION_REQUIRED", "PROVISIONING"];
      expect(open).toContain((await workflow.row(id)).state);
      expect(
        await whoCan(
          sees(
            "select workspace_id from public.capacity_backlog where workspace_id = $1 and monthly_cost_usd >= 987654321",
            workspace_id,
          ),
        ),
      ).toEqual(readers);
      await superuser.query(
        `update capacity.requests r set estimated_monthly_cost_usd = (e.payload ->> 'estimated_monthly_cost_usd')::numeric,
                offer = e.payload -> 'offer'
           from capacity.events e where e.request_id = r.id and e.seq = 1 and r.id = $1`,
        [id],
      );
    });

    test.each(Object.entries(acts))("%s is for those in the table", async (act, event) => {
      const id = ids[name]!;
      const { version: before } = await workflow.row(id);
      // Readers get an answer when it was decided before, but nothing changes.
      const changes = async (client: ClientBase): Promise<boolean> =>
        (await oneOf<{ version: number }>(client, applyText, [id, event])).version > before;
      expect(await whoCan(changes)).toEqual(membersOf(row[act as keyof typeof acts]));
    });

    test("nudging is for the requester and admins, noting for members who read, erasing for admins, the address for those in the table", async () => {
      const id = ids[name]!;
      const admins = readers.filter((who) => ["ada", "rita@globex", "glen@globex"].includes(who));
      expect(await whoCan(calls("select public.nudge_capacity_request($1)", id))).toEqual(inOrder(row.nudge));
      expect(await whoCan(calls("select public.note_capacity_request($1, 'hello')", id))).toEqual(
        membersOf(row.readers),
      );
      expect(await whoCan(calls("select public.set_customer_address($1, 'somebody@else.example')", id))).toEqual(
        inOrder(row.address),
      );
      expect(await whoCan(calls("select public.erase_customer($1, 'asked to')", id))).toEqual(admins);
    });
  });

  test("a delegate sees and decides what the owner would, while the owner is away and neither before nor after", async () => {
    const standsIn = async (): Promise<string[]> => {
      const seen: string[] = [];
      for (const [name, id] of Object.entries(ids)) {
        const read = await overHttp(
          db,
          memberSession("dora"),
          sees("select id from public.capacity_requests where id = $1", id),
        );
        const got = await overHttp(db, memberSession("dora"), calls("select public.get_capacity_request($1)", id)).then(
          () => true,
          () => false,
        );
        expect(got).toBe(read);
        if (read) seen.push(name);
      }
      return seen;
    };
    expect(await standsIn()).toEqual([]);
    await workflow.setAway("cora", true);
    // Not the one that Cora requested herself: nobody stands in for a reviewer of their own request.
    expect(await standsIn()).toEqual([
      "asked by Rita, owned by Cora",
      "so large that a VP decides",
      "so large that Carl decides",
      "waiting for the customer",
      "waiting for the customer, who has to pay",
      "being provisioned",
    ]);
    await overHttp(
      db,
      memberSession("dora"),
      calls(applyText, ids["asked by Rita, owned by Cora"], "COMMERCIAL_APPROVED"),
      { dryRun: true },
    );
    await workflow.setAway("cora", false);
    expect(await standsIn()).toEqual([]);
  });

  test("leaving a group, losing a role and being deactivated take effect immediately, while the token is still valid", async () => {
    const id = ids["asked by Rita, owned by Cora"]!;
    const reads = (who: string): Promise<boolean> =>
      overHttp(db, memberSession(who), sees("select id from public.capacity_requests where id = $1", id));
    const undone = await db.superuser.connect();
    expect([await reads("tess"), await reads("ada"), await reads("rita")]).toEqual([true, true, true]);
    await superuser.query("delete from directory.group_members where member_id = 'tess'");
    await superuser.query("update directory.members set roles = '{requester}' where id = 'ada'");
    await superuser.query("update directory.members set active = false where workspace_id = 'acme' and id = 'rita'");
    expect([await reads("tess"), await reads("ada"), await reads("rita")]).toEqual([false, false, false]);
    await undone.query("insert into directory.group_members values ('acme', 'infra', 'tess')");
    await undone.query("update directory.members set roles = '{admin}' where id = 'ada'");
    await undone.query("update directory.members set active = true where workspace_id = 'acme' and id = 'rita'");
  });

  test("reading by policies equals reading by functions, and includes everything that judge allows", async () => {
    await workflow.setAway("cora", true);
    // Operators also see requests in or after provisioning; otherwise judge alone decides, whatever the state.
    const expected = await rowsOf<{ member: string; request: string; may_read: boolean; by_judge: boolean }>(
      superuser,
      `select m.id as member, r.id as request, capacity.may_read(r, directory.standing_of(m.workspace_id, m.id)) as may_read,
              m.active and (
                m.id in (r.requester_user_id, r.commercial_owner_user_id) or 'auditor' = any (m.roles)
                or exists (select from unnest(enum_range(null::public.capacity_request_event_type)) e
                            where (capacity.judge(capacity.context_of(r, row('user', m.id, 'test')::capacity.actor, e, null))).allowed
                              and (e not in ('PROVISIONING_COMPLETE', 'PROVISIONING_FAILED') or r.state in ('PROVISIONING', 'COMPLETED', 'FAILED')))
              ) as by_judge
         from directory.members m join capacity.requests r on r.workspace_id = m.workspace_id
        where m.workspace_id = 'acme' order by 1, 2`,
    );
    expect(expected.length).toBeGreaterThan(100);
    expect(expected.filter((cell) => cell.may_read !== cell.by_judge)).toEqual([]);
    const elsewhere = `select m.id, r.id from directory.members m join capacity.requests r on r.workspace_id <> m.workspace_id
                        where capacity.may_read(r, directory.standing_of(m.workspace_id, m.id))`;
    expect(await rowsOf(superuser, elsewhere)).toEqual([]);
    for (const member of new Set(expected.map((cell) => cell.member))) {
      const read = await overHttp(db, memberSession(member), (client) =>
        rowsOf<{ id: string }>(client, "select id from public.capacity_requests order by id"),
      );
      const wanted = expected.filter((cell) => cell.member === member && cell.may_read);
      expect([member, read.map((row) => row.id)]).toEqual([member, wanted.map((cell) => cell.request)]);
    }
    await workflow.setAway("cora", false);
  });

  test.each(["capacity_requests", "capacity_request_events", "capacity_backlog", "capacity_outcomes"])(
    "nobody writes through the view %s",
    async (view) => {
      const column = view === "capacity_requests" || view === "capacity_request_events" ? "id" : "workspace_id";
      for (const session of Object.values(sessions)) {
        for (const text of [
          `insert into public.${view} default values`,
          `update public.${view} set ${column} = null`,
          `delete from public.${view}`,
        ]) {
          // 55000: the view cannot be written at all; Postgres checks that before rights.
          expect(await refusalOf(overHttp(db, session, (client) => client.query(text)))).toMatchObject({
            code: expect.stringMatching(/^(42501|55000)$/),
          });
        }
      }
    },
  );

  test.each([
    "select * from capacity.requests",
    "select * from headroom.boxes",
    "insert into capacity.events select * from capacity.events",
    "update capacity.requests set state = 'COMPLETED'",
    "delete from capacity.events",
    "truncate capacity.events",
    "select headroom.get_secret('CONFIRMATION_TOKEN_SECRET')",
    "select capacity.decide('CR-1', 'CANCEL_APPROVED', row('user', 'ada', 'api')::capacity.actor, '{}')",
    "select * from capacity.request_captures",
    "select * from capacity.request_customers",
    "select * from capacity.customer_marks",
    "select * from capacity.customer_keys",
    "select capacity.marking_key('acme')",
    "select capacity.customer_key_of('CR-1')",
    "select * from capacity.expiry_holds",
    "select * from billing.prices",
    "select billing.put_price('acme', '{}', 'me')",
    "select directory.reader_id()",
    "select * from outbox.payloads",
    "select outbox.enqueue_many('[]')",
  ])("nobody reaches behind the API: %s", async (text) => {
    for (const session of Object.values(sessions)) {
      expect(await refusalOf(overHttp(db, session, (client) => client.query(text)))).toMatchObject({ code: "42501" });
    }
  });

  test.each(["requests", "events", "personal_data", "request_customers", "request_captures", "free_texts"])(
    "%s is closed itself, not only behind the view: if the schema were open, only readers would see its rows",
    async (name) => {
      if (name in planted) await superuser.query(planted[name as keyof typeof planted]);
      const key = name === "requests" ? "id" : "request_id";
      const seenBy = (member: string): Promise<{ id: string }[]> =>
        overHttp(db, memberSession(member), (client) =>
          rowsOf(client, `select ${key} as id from capacity.${name} order by 1`),
        );
      const ofAcme = await rowsOf<{ id: string }>(
        superuser,
        `select r.id from capacity.${name} t join capacity.requests r on r.id = t.${key}
          where r.workspace_id = 'acme' order by 1`,
      );
      expect(ofAcme.length).toBeGreaterThan(5);
      await superuser.query("grant usage on schema capacity to authenticated");
      try {
        expect(await seenBy("ada")).toEqual(ofAcme);
        expect(await seenBy("nils")).toEqual([]);
      } finally {
        await superuser.query("revoke usage on schema capacity from authenticated");
      }
    },
  );

  test("the directory is closed itself: if the schema were open, only the own workspace would be seen", async () => {
    await superuser.query("grant usage on schema directory to authenticated");
    try {
      for (const [session, own] of [
        [memberSession("ada"), [{ id: "acme" }]],
        [memberSession("glen", "globex"), [{ id: "globex" }]],
        [memberSession("nobody"), []],
      ] as const) {
        const seen = await overHttp(db, session, async (client) => [
          await rowsOf(client, "select distinct workspace_id as id from directory.members"),
          await rowsOf(client, "select id from directory.workspaces"),
        ]);
        expect(seen).toEqual([own, own]);
      }
    } finally {
      await superuser.query("revoke usage on schema directory from authenticated");
    }
  });

  test("operators and auditors of the installation read all workspaces in SQL, and others none", async () => {
    const { count } = await oneOf<{ count: number }>(superuser, "select count(*) from capacity.requests");
    for (const role of ["headroom_control", "headroom_auditor"] as const) {
      expect(await oneOf(db.as(role).pool, "select count(*) from public.capacity_requests")).toEqual({ count });
      expect(await refusalOf(db.as(role).pool.query("update capacity.requests set version = 0"))).toMatchObject({
        code: "42501",
      });
    }
    for (const role of ["headroom_ingest", "headroom_executor"] as const) {
      expect(await refusalOf(db.as(role).pool.query("select from public.capacity_requests"))).toMatchObject({
        code: "42501",
      });
    }
  });

  test("nobody reads the key of the customers' hashes, not even operators and auditors of the installation", async () => {
    expect(await rowsOf(superuser, "select from capacity.customer_keys where workspace_id = 'acme'")).toHaveLength(1);
    for (const role of ["headroom_ingest", "headroom_executor", "headroom_control", "headroom_auditor"] as const) {
      for (const text of ["select from capacity.customer_keys", "select capacity.marking_key('acme')"]) {
        expect(await refusalOf(db.as(role).pool.query(text))).toMatchObject({ code: "42501" });
      }
    }
  });

  test("a member cannot act as another, and not even an admin as the system", async () => {
    const id = ids["asked by Rita, owned by Cora"]!;
    const text = "select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', $2, $3)";
    for (const who of ["rita", "ada", "nils"]) {
      for (const [type, actor] of [
        ["user", "cora"],
        ["user", "U0CORA"],
        ["system", "policy:small"],
        ["cron", "timer"],
        ["customer", "customer"],
      ]) {
        // Nils does not know that the request exists, and finds out nothing by pretending.
        expect(await codeOf(overHttp(db, memberSession(who), calls(text, id, type, actor)))).toBe(
          who === "nils" ? "not_found" : "not_allowed",
        );
      }
    }
    await overHttp(db, service, calls(text, id, "user", "U0CORA"), { dryRun: true });
    expect(await codeOf(overHttp(db, service, calls(text, id, "system", "policy:small")))).toBe("not_allowed");
  });
});
