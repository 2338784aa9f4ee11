/**
 * Which customer a request belongs to: the same customer by the caller's id or by the address, within a workspace; after an erasure by the
 * keyed hash alone.
 */
import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { tracesOf } from "../traces.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow, type RequestInput } from "../harness.ts";

const hex = /^[0-9a-f]{64}$/;

describe.each(POSTGRES_VERSIONS)("customers on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db, superuser } = workflow;
  const control = db.as("headroom_control").pool;
  let made = 0;
  /** A name that no other test uses. */
  const fresh = (what = "org"): string => `${what}-${(made += 1)}`;

  /** The key of a request's customer, as layers above see it. */
  async function keyOf(id: string): Promise<string | null> {
    const text = "select encode(capacity.customer_key_of($1), 'hex') as key";
    return (await oneOf<{ key: string | null }>(superuser, text, [id])).key;
  }
  async function keyFor(input: RequestInput): Promise<string | null> {
    return keyOf((await workflow.create(input)).id);
  }
  const byAddress = (email: string): Promise<string | null> => keyFor({ customer: { email } });
  const setAddress = (id: string, email: string) =>
    rowsOf(control, "select public.set_customer_address($1, $2, 'cora')", [id, email]);
  const erase = (id: string) => rowsOf(control, "select public.erase_customer($1, 'asked to', 'ada')", [id]);

  describe("are one", () => {
    test("by the id that the caller gives, which is shown wherever the request is", async () => {
      const customerId = fresh();
      const first = await workflow.create({ customerId, customer: null });
      const second = await workflow.create({ customerId, customer: { name: "Anything" } });
      const other = await workflow.create({ customerId: fresh() });
      expect(first.customer_id).toBe(customerId);
      expect(await keyOf(first.id)).toMatch(hex);
      expect(await keyOf(second.id)).toBe(await keyOf(first.id));
      expect(await keyOf(other.id)).not.toBe(await keyOf(first.id));
      const told = await oneOf<{ got: string; applied: string; decided: string }>(
        superuser,
        `select public.get_capacity_request($1) #>> '{request,customer_id}' as got,
                (public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')).customer_id as applied,
                public.decide_capacity_request($1, 'TECH_REVIEW_APPROVED', 'tess') #>> '{request,customer_id}' as decided`,
        [first.id],
      );
      expect(told).toEqual({ got: customerId, applied: customerId, decided: customerId });
      await workflow.expectWhole([first.id, second.id, other.id]);
    });

    test("by org_id in customer_ref, unless an id is given", async () => {
      const [org, given] = [fresh(), fresh()];
      const first = await workflow.create({ customer: { org_id: org } });
      expect(first.customer_id).toBe(org);
      expect(await keyFor({ customerId: org })).toBe(await keyOf(first.id));
      const second = await workflow.create({ customer: { org_id: org }, customerId: given });
      expect(second.customer_id).toBe(given);
      expect(await keyOf(second.id)).toBe(await keyFor({ customerId: given }));
      expect(await keyOf(second.id)).not.toBe(await keyOf(first.id));
    });

    test("by the address alone, without revealing the id that another caller gave", async () => {
      const customerId = fresh();
      const email = `${fresh("it")}@initech.example`;
      const first = await workflow.create({ customerId, customer: { email } });
      const second = await workflow.create({ customer: { email } });
      expect(second.customer_id).toMatch(hex);
      expect(await keyOf(second.id)).toBe(await keyOf(first.id));
    });

    test("never by the address of a customer who has another id", async () => {
      const email = `${fresh("it")}@initech.example`;
      const stranger = await workflow.create({ customerId: fresh(), customer: { email } });
      const own = fresh();
      const first = await workflow.create({ customerId: own, customer: { email } });
      const second = await workflow.create({ customerId: own, customer: { email: `${fresh("it")}@initech.example` } });
      expect(await keyOf(first.id)).not.toBe(await keyOf(stranger.id));
      expect(await keyOf(second.id)).toBe(await keyOf(first.id));
    });

    test("by the address, however it is capitalized, and are shown as the hash", async () => {
      const name = fresh("it");
      const first = await workflow.create({ customer: { email: `${name}@initech.example` } });
      expect(first.customer_id).toMatch(hex);
      expect(first.customer_id).toBe(await keyOf(first.id));
      expect(await byAddress(`${name.toUpperCase()}@Initech.Example`)).toBe(first.customer_id);
      expect(await byAddress(`${fresh("it")}@initech.example`)).not.toBe(first.customer_id);
      const applied = await oneOf<{ customer_id: string }>(
        superuser,
        "select customer_id from public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'cora')",
        [first.id],
      );
      expect(applied.customer_id).toBe(first.customer_id);
    });

    test("when an id comes with a known address, and when an address comes with a known id", async () => {
      const [id, one, two] = [fresh(), `${fresh("a")}@x.example`, `${fresh("b")}@x.example`];
      const key = await byAddress(one);
      expect(await keyFor({ customerId: id, customer: { email: one } })).toBe(key);
      expect(await keyFor({ customerId: id })).toBe(key);
      expect(await keyFor({ customerId: id, customer: { email: two } })).toBe(key);
      expect(await byAddress(two)).toBe(key);
    });

    test("by the id first: an address stays with its customer", async () => {
      const [id, email] = [fresh(), `${fresh("a")}@x.example`];
      const [byId, others] = [await keyFor({ customerId: id }), await byAddress(email)];
      expect(await keyFor({ customerId: id, customer: { email } })).toBe(byId);
      expect(await byAddress(email)).toBe(others);
      expect(others).not.toBe(byId);
    });
  });

  describe("are unknown", () => {
    const odd: [string, unknown][] = [
      ["nothing", null],
      ["a name", { name: "Initech" }],
      ["an invalid address", { email: "a@x, b@x" }],
      ["an address that is no text", { email: ["a@x.example"] }],
      ["an empty org_id", { org_id: "" }],
      ["a blank org_id", { org_id: " " }],
      ["an org_id that is a number", { org_id: 7 }],
      ["an org_id that is an object", { org_id: { id: "o" } }],
      ["an org_id with a line feed", { org_id: "a\nb" }],
      ["an org_id of 201 characters", { org_id: "x".repeat(201) }],
    ];
    test.each(odd)("where %s tells, and then nothing is kept", async (_what, customer) => {
      const before = await workflow.size();
      const row = await workflow.create({ customer, workspace: "globex", owner: "glen" });
      expect(row.customer_id).toBeNull();
      expect(await keyOf(row.id)).toBeNull();
      expect(await workflow.size()).toMatchObject({ marks: before["marks"], customers: before["customers"] });
      expect(await rowsOf(superuser, "select from capacity.customer_keys where workspace_id = 'globex'")).toEqual([]);
    });
  });

  describe("an id", () => {
    test.each(["", " ", " a", "a ", "a\tb", "a\nb", "a\u0007", "a\u0085b", "a\u200bb", "a\u202eb", "x".repeat(201)])(
      "like %j is refused by name, and nothing is written",
      async (customerId) => {
        const before = await workflow.size();
        const refusal = {
          code: "PT400",
          message: "The customer_id of the request is not acceptable.",
          detail: "invalid_input: customer_id: 1 to 200 printable characters, without blanks at the ends",
        };
        expect(await refusalOf(workflow.create({ customerId }))).toMatchObject(refusal);
        const preview =
          "select public.preview_capacity_request('rita', 'cora', 'infra', '1XL', 1, 'eu', 1, 'acme', p_customer_id => $1)";
        expect(await refusalOf(rowsOf(superuser, preview, [customerId]))).toMatchObject(refusal);
        expect(await workflow.size()).toEqual(before);
      },
    );

    test.each(["a", "Initech GmbH & Co. 企業", "'; drop table x; --", "x".repeat(200)])(
      "like %j passes, and is kept as it is",
      async (customerId) => {
        expect((await workflow.create({ customerId })).customer_id).toBe(customerId);
      },
    );

    test("is part of the content of an idempotency key; without one the fingerprint is what it was before there were ids", async () => {
      const [key, customerId] = [fresh("key"), fresh()];
      const first = await workflow.create({ key, customerId });
      expect((await workflow.create({ key, customerId })).id).toBe(first.id);
      expect(await codeOf(workflow.create({ key, customerId: fresh() }))).toBe("idempotency_conflict");
      expect(await codeOf(workflow.create({ key }))).toBe("idempotency_conflict");

      const without = await workflow.create({ key: fresh("key") });
      const { same } = await oneOf<{ same: boolean }>(
        superuser,
        `select s.fingerprint = sha256(convert_to(jsonb_build_array(
                  'rita', 'cora', 'infra', d.customer_ref, '32XL', 4, 'us-east-1', null::date, 30, 500::numeric, 7, null::text, null::text)::text, 'UTF8')) as same
           from capacity.submissions s join capacity.personal_data d using (request_id) where s.request_id = $1`,
        [without.id],
      );
      expect(same).toBe(true);
    });
  });

  describe("an address that is set later", () => {
    test("identifies the customer, if nothing else did", async () => {
      const email = `${fresh("late")}@x.example`;
      const key = await byAddress(email);
      const { id } = await workflow.create({ customer: null });
      await setAddress(id, email.toUpperCase());
      expect(await keyOf(id)).toBe(key);
      const next = await workflow.create({ customer: null });
      await setAddress(next.id, `${fresh("new")}@x.example`);
      expect(await keyOf(next.id)).toMatch(hex);
      expect((await workflow.row(next.id)).customer_id).toBe(await keyOf(next.id));
      await workflow.expectWhole([id, next.id]);
    });

    test("belongs to the customer from then on, unless it is another's, and the request keeps its customer", async () => {
      const [customerId, own, others] = [fresh(), `${fresh("own")}@x.example`, `${fresh("others")}@x.example`];
      const { id } = await workflow.create({ customerId });
      const key = await keyOf(id);
      await setAddress(id, own);
      expect(await byAddress(own)).toBe(key);
      const other = await byAddress(others);
      await setAddress(id, others);
      expect(await keyOf(id)).toBe(key);
      expect(await byAddress(others)).toBe(other);
      expect((await workflow.row(id)).customer_id).toBe(customerId);
    });
  });

  describe("two at once", () => {
    let clients: [TestClient, TestClient];
    beforeAll(async () => {
      clients = await db.twoConnections("postgres");
    });
    afterAll(() => Promise.all(clients.map((client) => client.end())));

    /** The second comes while the first has not committed, and waits for its outcome. */
    async function interleave(first: RequestInput, second: RequestInput, ending: "commit" | "rollback") {
      const [one, two] = clients;
      await one.query("begin");
      const before = await workflow.create(first, one);
      const waiting = workflow.create(second, two);
      await db.waitUntilBlocked(two);
      await one.query(ending);
      return { first: await keyOf(before.id), second: await keyOf((await waiting).id) };
    }

    test.each<[string, (id: string, email: string) => [RequestInput, RequestInput]]>([
      ["the same id", (customerId) => [{ customerId }, { customerId }]],
      ["the same address", (_id, email) => [{ customer: { email } }, { customer: { email: email.toUpperCase() } }]],
      [
        "the same id and other addresses",
        (customerId, email) => [
          { customerId, customer: { email } },
          { customerId, customer: { email: `other.${email}` } },
        ],
      ],
    ])("with %s are one customer, or the second makes it after a rollback", async (_what, pair) => {
      const [first, second] = pair(fresh(), `${fresh("at-once")}@x.example`);
      const both = await interleave(first, second, "commit");
      expect(both.first).toMatch(hex);
      expect(both.second).toBe(both.first);

      const [gone, left] = pair(fresh(), `${fresh("at-once")}@x.example`);
      const after = await interleave(gone, left, "rollback");
      expect(after.first).toBeNull();
      expect(after.second).toMatch(hex);
      expect(await keyFor(left)).toBe(after.second);
    });

    test("with one address and two ids are two customers, and the address is the first's", async () => {
      const [one, two, email] = [fresh(), fresh(), `${fresh("shared")}@x.example`];
      const customer = { email };
      const both = await interleave({ customerId: one, customer }, { customerId: two, customer }, "commit");
      expect(both.second).not.toBe(both.first);
      expect(await keyFor({ customerId: two })).toBe(both.second);
      expect(await byAddress(email)).toBe(both.first);
    });

    test("the first without an id: the second's id joins the customer of the address", async () => {
      const [id, email] = [fresh(), `${fresh("shared")}@x.example`];
      const customer = { email };
      const both = await interleave({ customer }, { customerId: id, customer }, "commit");
      expect(both.second).toBe(both.first);
      expect(await keyFor({ customerId: id })).toBe(both.first);
    });

    test("with an id that is new, the second with another customer's address too: the first has made the customer of the id", async () => {
      const [id, email] = [fresh(), `${fresh("known")}@x.example`];
      const known = await byAddress(email);
      const both = await interleave({ customerId: id }, { customerId: id, customer: { email } }, "commit");
      expect(both.second).toBe(both.first);
      expect(both.first).not.toBe(known);
      expect(await byAddress(email)).toBe(known);
    });

    test("that are a workspace's first make one key", async () => {
      await rowsOf(superuser, "insert into directory.workspaces (id, name) values ('hooli', 'Hooli')");
      const [one, two] = clients;
      await one.query("begin");
      await one.query("select capacity.marking_key('hooli')");
      const second = oneOf<{ key: Buffer }>(two, "select capacity.marking_key('hooli') as key");
      await db.waitUntilBlocked(two);
      await one.query("commit");
      expect(await rowsOf(superuser, "select key from capacity.customer_keys where workspace_id = 'hooli'")).toEqual([
        await second,
      ]);
    });

    test("in many sessions, all with one id and one address among few, are as many customers as there are ids", async () => {
      const ids = [fresh(), fresh(), fresh()];
      const pool = db.superuser.pool;
      const rows = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          workflow.create({ customerId: ids[n % 3]!, customer: { email: `${ids[n % 3]}.${n % 5}@x.example` } }, pool),
        ),
      );
      const keys = await Promise.all(rows.map(({ id }) => keyOf(id)));
      ids.forEach((_id, index) => {
        expect(new Set(keys.filter((_key, n) => n % 3 === index)).size).toBe(1);
      });
      expect(new Set(keys).size).toBe(3);
    });
  });

  describe("of another workspace", () => {
    test("never have the same hash, because it is keyed: each workspace has 32 random bytes of its own", async () => {
      const [customerId, email] = [fresh(), `${fresh("both")}@x.example`];
      await rowsOf(
        superuser,
        "insert into directory.workspaces (id, name) values ('umbra', 'Umbra'), ('vand', 'Vand')",
      );
      const marks: Buffer[] = [];
      for (const workspace of ["umbra", "vand"]) {
        const text =
          "select array[m.by_id, m.by_address] as given, capacity.marking_key($1) as key from capacity.marks_of($1, $2, $3) m";
        const { given, key } = await oneOf<{ given: Buffer[]; key: Buffer }>(superuser, text, [
          workspace,
          customerId,
          email,
        ]);
        expect(key).toHaveLength(32);
        expect(given).toEqual(
          [`id:${customerId}`, `address:${email}`].map((known) => createHmac("sha256", key).update(known).digest()),
        );
        marks.push(...given);
      }
      expect(new Set(marks.map((mark) => mark.toString("hex"))).size).toBe(4);

      const here = await keyFor({ customerId });
      const there = await keyFor({ customerId, workspace: "globex", owner: "glen" });
      expect(there).toMatch(hex);
      expect(there).not.toBe(here);
    });
  });

  describe("an erasure", () => {
    test("removes the id, and leaves the hash, by which the next request is recognised", async () => {
      const [customerId, email] = [fresh("zugzwang"), `${fresh("rubicon")}@x.example`];
      const customer = { org_id: customerId, email };
      const first = await workflow.create({ customer, key: fresh("key") });
      const second = await workflow.create({ customerId, key: fresh("key") });
      const key = await keyOf(first.id);
      await erase(first.id);
      expect((await workflow.row(first.id)).customer_id).toBe(key);
      expect(await keyOf(first.id)).toBe(key);
      // The customer's other request is erased separately.
      expect((await workflow.row(second.id)).customer_id).toBe(customerId);
      await erase(second.id);
      await erase(first.id);
      expect(await tracesOf(db, [customerId, email])).toEqual([]);
      expect((await workflow.row(second.id)).customer_id).toBe(key);

      expect(await keyFor({ customerId })).toBe(key);
      expect(await byAddress(email)).toBe(key);
      await workflow.expectWhole([first.id, second.id]);
      const { findings } = await oneOf<{ findings: unknown[] }>(
        db.as("headroom_auditor").pool,
        "select findings from capacity.verify_requests()",
      );
      expect(findings).toEqual([]);
    });

    test("of a request that got its customer by an address set later leaves the hash too", async () => {
      const email = `${fresh("tpsreport")}@x.example`;
      const { id } = await workflow.create({ customer: null });
      await setAddress(id, email);
      const key = await keyOf(id);
      await erase(id);
      expect(await tracesOf(db, [email])).toEqual([]);
      expect((await workflow.row(id)).customer_id).toBe(key);
      expect(await codeOf(setAddress(id, email))).toBe("conflict");
      expect(await byAddress(email)).toBe(key);
    });
  });
});
