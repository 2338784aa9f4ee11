/**
 * Making a request: its id, its terms, once per idempotency key, and what is accepted at all.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../gateway.ts";
import {
  codeOf,
  createCall,
  createValues,
  oneOf,
  refusalOf,
  rowsOf,
  startWorkflow,
  type RequestInput,
  type RequestRow,
} from "../harness.ts";

const numberOf = (id: string): number => Number(/^CR-\d{4}-(\d{6,})$/.exec(id)?.[1]);
const dateIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

describe.each(POSTGRES_VERSIONS)("making a request on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const createAs = (session: Session, input: RequestInput) =>
    overHttp(workflow.db, session, (client) => oneOf<RequestRow>(client, createCall, createValues(input)));

  test("creates and submits in one step, and returns everything that was submitted", async () => {
    const row = await workflow.create({
      customer: { org: "org_7", name: "Initech", email: "bill@initech.example" },
      neededBy: dateIn(30),
      cost: "1234.50",
      ttlDays: 3,
      channel: "C0CHANNEL",
    });
    expect(row).toMatchObject({
      state: "UNDER_REVIEW",
      version: 1,
      requester_user_id: "rita",
      commercial_owner_user_id: "cora",
      infra_owner_group: "infra",
      customer_ref: { org: "org_7", name: "Initech", email: "bill@initech.example" },
      requested_size: "32XL",
      quantity: 4,
      region: "us-east-1",
      expected_duration_days: 30,
      confirmation_ttl_days: 3,
      slack_channel_id: "C0CHANNEL",
      workspace_id: "acme",
      commercial_approved_at: null,
      technical_approved_at: null,
      next_deadline_at: null,
    });
    await workflow.expectWhole([row.id]);
  });

  test("the answer is what the view shows, also for a repeat and where rules approve immediately", async () => {
    const asShown = async (input: RequestInput): Promise<RequestRow> => {
      const row = await workflow.create(input);
      expect(row).toEqual(await workflow.row(row.id));
      return row;
    };
    const customer = { org_id: "org_9", name: "Hooli", email: "gavin@hooli.example" };
    await asShown({ customer: null });
    const first = await asShown({ customer, key: "shown", cost: "12.50", neededBy: dateIn(9) });
    await workflow.apply(first.id, "COMMERCIAL_APPROVED", "cora");
    const repeated = await asShown({ customer, key: "shown", cost: "12.50", neededBy: dateIn(9) });
    expect(repeated).toMatchObject({ id: first.id, version: 2, commercial_approved_by: "cora" });
    await workflow.addPolicy({ id: "all", kind: "auto_approval", step: "both" });
    expect(await asShown({ customer })).toMatchObject({ state: "CUSTOMER_CONFIRMATION_REQUIRED", version: 3 });
    expect(await asShown({ customer: { name: "Hooli" } })).toMatchObject({
      version: 3,
      customer_unasked: "no_address",
    });
    await rowsOf(workflow.superuser, "delete from capacity.policies");
  });

  test("customer data is stored apart from the log, which has only a salted hash of it", async () => {
    const { id } = await workflow.create({ customer: { name: "Umbrella Corporation" } });
    const { log, matches } = await oneOf<{ log: string; matches: boolean }>(
      workflow.superuser,
      `select (select string_agg(e::text, '') from capacity.events e where e.request_id = $1) as log,
              (select r.customer_hash = sha256(d.salt || convert_to(d.customer_ref::text, 'UTF8'))
                 from capacity.requests r join capacity.personal_data d on d.request_id = r.id where r.id = $1) as matches`,
      [id],
    );
    expect(log).not.toContain("Umbrella");
    expect(matches).toBe(true);
    const without = await workflow.create({ customer: null });
    expect(without.customer_ref).toBeNull();
    await workflow.expectWhole([id, without.id]);
  });

  test("a request without a channel of its own gets the workspace's", async () => {
    await workflow.db.superuser.pool.query(
      "update directory.workspaces set slack_channel_id = 'C0HOME' where id = 'acme'",
    );
    expect(await workflow.create()).toMatchObject({ slack_channel_id: "C0HOME" });
    expect(await workflow.create({ channel: "C0OWN" })).toMatchObject({ slack_channel_id: "C0OWN" });
    await workflow.db.superuser.pool.query("update directory.workspaces set slack_channel_id = null where id = 'acme'");
  });

  test("a member names a channel of the workspace, and no other; a machine names any", async () => {
    await workflow.db.superuser.pool.query(
      "update directory.workspaces set slack_channel_id = 'C0HOME', slack_channel_ids = '{C0SALES,C0LABS}' where id = 'acme'",
    );
    const create = (session: Session, channel: string) =>
      overHttp(workflow.db, session, (client) => workflow.create({ channel }, client));
    for (const channel of ["C0HOME", "C0SALES", "C0LABS"]) {
      expect(await create(memberSession("rita"), channel)).toMatchObject({ slack_channel_id: channel });
    }
    const before = await workflow.size();
    // Another workspace's, one that does not exist, and a person.
    await workflow.db.superuser.pool.query(
      "update directory.workspaces set slack_channel_id = 'C0GLOBEX' where id = 'globex'",
    );
    for (const channel of ["C0GLOBEX", "C0NOWHERE", "U0GLEN"]) {
      expect(await refusalOf(create(memberSession("rita"), channel))).toMatchObject({
        code: "PT400",
        message: "The slack_channel_id of the request is not acceptable.",
        detail: "invalid_input: slack_channel_id: a channel of the workspace",
      });
    }
    expect(await workflow.size()).toEqual(before);
    expect(await create(service, "C0NOWHERE")).toMatchObject({ slack_channel_id: "C0NOWHERE" });
    await workflow.db.superuser.pool.query(
      "update directory.workspaces set slack_channel_id = null, slack_channel_ids = '{}' where id in ('acme', 'globex')",
    );
  });

  test.each([
    ["ｂuyer@acme.example"],
    ["buyer@acm\u0130.example"],
    ["buy\u200ber@acme.example"],
    ["buyer@[192.0.2.1]"],
  ])(
    "a customer with the address %j, which can take mail but which no list would recognise, is refused",
    async (email) => {
      const before = await workflow.size();
      const preview =
        "select public.preview_capacity_request('rita', 'cora', 'infra', '32XL', 1, 'us-east-1', p_workspace_id => 'acme', p_customer_ref => $1)";
      for (const ask of [
        () => workflow.create({ customer: { email } }),
        () => workflow.superuser.query(preview, [{ email }]),
      ])
        expect(await refusalOf(ask())).toMatchObject({
          code: "PT400",
          message: "The customer_ref of the request is not acceptable.",
          detail: expect.stringContaining("That is not an e-mail address") as string,
        });
      expect(await workflow.size()).toEqual(before);
    },
  );

  describe("ids", () => {
    test("have at least six digits and are never truncated", async () => {
      for (const [next, digits] of [
        [41, "000041"],
        [999_999, "999999"],
        [1_000_000, "1000000"],
        [12_345_678, "12345678"],
      ] as const) {
        await rowsOf(workflow.superuser, "select setval('capacity.request_numbers', $1, false)", [next]);
        const made = "select capacity.next_request_id('default', '2026-06-01T00:00:00Z') as id";
        expect(await oneOf(workflow.superuser, made)).toEqual({ id: `CR-2026-${digits}` });
      }
      const row = await workflow.create();
      await workflow.apply(row.id, "COMMERCIAL_APPROVED", "cora");
      await workflow.expectWhole([row.id]);
    });

    test("count only the default workspace's requests", async () => {
      const next = async (workspace: string): Promise<string> =>
        (await oneOf<{ id: string }>(workflow.superuser, "select capacity.next_request_id($1) as id", [workspace])).id;
      const before = numberOf(await next("default"));
      const others = [await workflow.create(), await workflow.create({ workspace: "globex", owner: "glen" })];
      for (const { id } of others) expect(id).toMatch(/^CR-\d{4}-[1-9]\d{8}$/);
      expect(numberOf(await next("default"))).toBe(before + 1);
    });

    test("take the year of UTC, in any session, and continue in a new one", async () => {
      const client = await workflow.db.superuser.connect();
      for (const zone of ["UTC", "Pacific/Kiritimati", "Pacific/Midway"]) {
        await client.query(`set timezone = '${zone}'`);
        const ids = await rowsOf<{ id: string }>(
          client,
          `select capacity.next_request_id('default', t) as id
             from unnest(array['2026-12-31T23:59:59.999999Z', '2027-01-01T00:00:00Z']::timestamptz[]) t`,
        );
        const [last, first] = ids.map((row) => /^CR-(\d+)-(\d+)$/.exec(row.id)!);
        expect([last![1], first![1]]).toEqual(["2026", "2027"]);
        expect(Number(first![2])).toBe(Number(last![2]) + 1);
      }
      await client.end();
    });
  });

  describe("an idempotency key", () => {
    test("makes one request however often it is sent, even when the first has moved on and its date has passed", async () => {
      const input = { key: "k-1", cost: 500 };
      const first = await workflow.create(input);
      await workflow.apply(first.id, "COMMERCIAL_APPROVED", "cora");
      const before = await workflow.size();
      expect(await workflow.create({ ...input, cost: "500.00" })).toMatchObject({ id: first.id, version: 2 });
      expect(await workflow.size()).toEqual(before);
    });

    test("with other content is refused", async () => {
      await workflow.create({ key: "k-2" });
      const before = await workflow.size();
      for (const change of [{ quantity: 5 }, { requester: "rob" }, { customer: { name: "Other" } }, { ttlDays: 8 }])
        expect(await codeOf(workflow.create({ key: "k-2", ...change }))).toBe("idempotency_conflict");
      expect(await workflow.size()).toEqual(before);
    });

    test("belongs to its workspace", async () => {
      const here = await workflow.create({ key: "k-3" });
      const there = await workflow.create({ key: "k-3", workspace: "globex", requester: "rita", owner: "glen" });
      expect(there.id).not.toBe(here.id);
      expect(there.workspace_id).toBe("globex");
    });

    test("of a refused submission is free again", async () => {
      expect(await codeOf(workflow.create({ key: "k-4", quantity: 0 }))).toBe("invalid_input");
      expect(await workflow.create({ key: "k-4" })).toMatchObject({ state: "UNDER_REVIEW" });
    });

    test.each(["", "x".repeat(201), "a\nb"])("like %j is refused", async (key) => {
      expect(await codeOf(workflow.create({ key }))).toBe("invalid_input");
    });
  });

  describe("a replacement", () => {
    test("is linked to the request that it replaces, once that has ended", async () => {
      const old = await workflow.create();
      expect(await codeOf(workflow.create({ replaces: old.id }))).toBe("conflict");
      await workflow.apply(old.id, "CANCEL_APPROVED", "rita");
      const fresh = await workflow.create({ replaces: old.id });
      expect(fresh).toMatchObject({ replaces_request_id: old.id });
      await workflow.expectWhole([old.id, fresh.id]);
    });

    test("of a request of another workspace, of one that the requester may not read, or of none, is refused in the same way", async () => {
      const old = await workflow.create();
      await workflow.apply(old.id, "CANCEL_APPROVED", "rita");
      const absent = "CR-1999-000001";
      const before = await workflow.size();
      for (const [replaces, input] of [
        [old.id, { workspace: "globex", requester: "rita", owner: "glen" }],
        [old.id, { requester: "dora" }],
        [absent, {}],
      ] as const) {
        const { code, message, detail, hint } = await refusalOf(workflow.create({ ...input, replaces }));
        expect({ code, message, detail, hint }).toEqual({
          code: "PT404",
          message: "There is no such request, or you may not see it.",
          detail: `not_found: ${replaces}`,
          hint: "Check the id; it looks like CR-2026-000042.",
        });
      }
      expect(await workflow.size()).toEqual(before);
    });
  });

  describe("who asks", () => {
    test("a member asks for themselves, in their own workspace", async () => {
      const own = await createAs(memberSession("rita"), { workspace: null });
      expect(own).toMatchObject({ requester_user_id: "rita", workspace_id: "acme" });
      expect(await codeOf(createAs(memberSession("rita"), { requester: "rob" }))).toBe("not_allowed");
      expect(await codeOf(createAs(memberSession("rita"), { workspace: "globex" }))).toBe("not_found");
    });

    test("a service asks for a member, by member id or Slack id, and for nobody else", async () => {
      expect(await createAs(service, { requester: "U0RITA" })).toMatchObject({ requester_user_id: "rita" });
      for (const requester of ["nobody", "gus"])
        expect(await codeOf(createAs(service, { requester }))).toBe("not_allowed");
      expect(await codeOf(createAs(service, { workspace: "nowhere" }))).toBe("not_allowed");
    });
  });

  describe("terms", () => {
    const bad: [string, RequestInput][] = [
      ["no size", { size: "" }],
      ["a size with a blank", { size: "32 XL" }],
      ["a size with a quote", { size: "32XL'; drop table x; --" }],
      ["a size of 33 characters", { size: "X".repeat(33) }],
      ["a size that ends in a line feed", { size: "32XL\n" }],
      ["no quantity", { quantity: 0 }],
      ["a negative quantity", { quantity: -1 }],
      ["a quantity of 10001", { quantity: 10_001 }],
      ["a region in capitals", { region: "US-EAST-1" }],
      ["a region of one letter", { region: "x" }],
      ["a date in the past", { neededBy: dateIn(-3) }],
      ["a date after ten years", { neededBy: dateIn(3700) }],
      ["a date that does not exist", { neededBy: "infinity" }],
      ["a date before all time", { neededBy: "-infinity" }],
      ["no days at all", { durationDays: 0 }],
      ["more than ten years of days", { durationDays: 3651 }],
      ["a negative cost", { cost: -0.01 }],
      ["a cost above a million millions", { cost: "1000000000000.01" }],
      ["a cost in tenths of a cent", { cost: "0.001" }],
      ["a cost that is no number", { cost: "NaN" }],
      ["an endless cost", { cost: "Infinity" }],
      ["no time for the customer", { ttlDays: 0 }],
      ["91 days for the customer", { ttlDays: 91 }],
      ["null days for the customer", { ttlDays: null }],
      ["an invalid channel", { channel: "#general" }],
      ["a customer that is a list", { customer: [] }],
      ["a customer that is a text", { customer: "Initech" }],
      ["a customer of 9 kB", { customer: { name: "x".repeat(9000) } }],
      ["a customer with a control character", { customer: { name: "a\u0000b".replace("\u0000", "\u0008") } }],
      ["a customer nine levels deep", { customer: { a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } } }],
    ];
    test.each(bad)("with %s are refused by name, and nothing is written", async (_what, input) => {
      const before = await workflow.size();
      const refusal = await refusalOf(workflow.create(input));
      expect(refusal).toMatchObject({ code: "PT400", detail: expect.stringMatching(/^invalid_input: /) });
      expect(await workflow.size()).toEqual(before);
    });

    test.each<[string, RequestInput]>([
      ["the smallest of everything", { size: "S", quantity: 1, region: "eu", cost: 0, durationDays: 1, ttlDays: 1 }],
      [
        "the largest of everything",
        {
          size: "X".repeat(32),
          quantity: 10_000,
          region: "r".repeat(32),
          cost: "1000000000000.00",
          durationDays: 3650,
          ttlDays: 90,
          neededBy: dateIn(3648),
        },
      ],
      ["no optional field", { cost: null, neededBy: null, durationDays: null, customer: null }],
      ["a date that is today", { neededBy: dateIn(0) }],
    ])("with %s pass", async (_what, input) => {
      const { id } = await workflow.create(input);
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
      await workflow.expectWhole([id]);
    });
  });
});
