/** Who is told what: the table matches the events and notices, nobody gets a message about their own act, and verification knows who was told. */
import { describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { customer, startSurfaces } from "../surfaces.ts";
import { nothing, quiet } from "../timers/time.ts";
import { oneOf, rowsOf } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("telling people on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  const { superuser } = surfaces;
  const unasked = async (id: string): Promise<string | null> =>
    (
      await oneOf<{ u: string | null }>(
        superuser,
        "select customer_unasked as u from public.capacity_requests where id = $1",
        [id],
      )
    ).u;

  /** The last mail to a request's customer bounces: whom that is reported to. */
  const bounced = async (id: string): Promise<unknown> => {
    const { outcome } = await oneOf<{ outcome: string }>(
      superuser,
      `select notify.record_outcome(d.outbox_id, 'bounced', 'bounced', 'no such mailbox') as outcome from notify.deliveries d
        where d.recipient = $1 and d.recipient_kind = 'customer' order by d.released_at desc limit 1`,
      [id],
    );
    expect(outcome).toBe("learnt");
    await rowsOf(superuser, "select notify.lift_suppression('acme', $1, 'ada')", [customer.email]);
    return rowsOf(
      superuser,
      "select recipient, title from notify.notifications where cause = 'mail-failed' and about = $1 order by recipient",
      [id],
    );
  };

  test("the table has one line for each cause and audience, of all events, notices, problems and categories", async () => {
    const problems = await rowsOf(
      superuser,
      `select t.cause, t.audience, 'twice' as what from capacity.tells t group by 1, 2 having count(*) > 1
       union all
       select t.cause, t.audience, 'no such category' from capacity.tells t
        where t.category not in (select c.category from notify.categories c)
       union all
       select t.cause, t.audience, 'not for them' from capacity.tells t join notify.categories c on c.category = t.category
        where (c.audience = 'customer') <> (t.audience = 'customer')
       union all
       select t.cause, t.audience, 'no such cause' from capacity.tells t
        where t.cause <> all (enum_range(null::public.capacity_request_event_type)::text[])
          and t.cause not in ('dead_letters', 'circuit_open', 'circuit_closed')
          and (select pg_get_constraintdef(oid) from pg_constraint where conname = 'notices_kind_check') not like format('%%''%s''%%', t.cause)`,
    );
    expect(problems).toEqual([]);
    const untold = await rowsOf(
      superuser,
      `select e from unnest(enum_range(null::public.capacity_request_event_type)::text[]) e
        where e not in (select cause from capacity.tells where audience = 'requester')`,
    );
    expect(untold).toEqual([]);
  });

  test("a workspace without surfaces notifies its people only, and every event is still written", async () => {
    await surfaces.settings({ slack_channel_id: null, linear_team_id: null, public_url: null });
    await rowsOf(surfaces.superuser, "delete from capacity.subscriptions");
    const id = await surfaces.createIn("PROVISIONING", { customer });
    expect((await surfaces.events<{ effects: string[] }>(id)).map(({ effects }) => effects)).toEqual([
      ["tell:asked"],
      ["tell:requester"],
      ["tell:requester", "tell:no_longer_asked", "tell:fixers"],
      ["tell:requester"],
    ]);
    expect(await surfaces.effects(id)).toEqual([]);
  });

  test("people are not told of their own acts: a requester who cancels, a reviewer who rejects", async () => {
    const cancelled = await surfaces.create();
    await surfaces.apply(cancelled.id, "CANCEL_APPROVED", "rita");
    expect((await surfaces.toldOf(cancelled.id)).map(({ to }) => to)).not.toContain("rita");
    const rejected = await surfaces.create();
    await surfaces.apply(rejected.id, "TECH_REVIEW_REJECTED", "tess");
    const told = (await surfaces.toldOf(rejected.id)).filter(({ instruction }) => instruction === `${rejected.id}#2`);
    expect(told.map(({ to, audience }) => [audience, to])).toEqual([
      ["requester", "rita"],
      ["no_longer_asked:commercial", "cora"],
      ["no_longer_asked:technical", "rob"],
      ["no_longer_asked:technical", "tim"],
    ]);
    expect(told[0]?.body).toMatch(/^Tess rejected the request in the technical review\.\n\n> /);
  });

  test("a customer's mail is addressed to them by name, at their step and at a notice", async () => {
    await surfaces.settings({ public_url: "https://capacity.acme.example" });
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    await rowsOf(superuser, "select public.set_customer_address($1, 'other@initech.example', 'cora')", [id]);
    const named = `select name, address from notify.notifications where about = $1 and recipient_kind = 'customer' order by created_at`;
    expect(await rowsOf(superuser, named, [id])).toEqual([
      { name: customer.name, address: customer.email },
      { name: customer.name, address: "other@initech.example" },
    ]);
  });

  test("an opt-out of the inbox is stored, and the notification is there anyway", async () => {
    await rowsOf(
      superuser,
      "insert into notify.preferences (workspace_id, whose, category, channel, choice) values ('acme', 'member:rita', 'requests', 'in-app', 'off')",
    );
    const { id } = await surfaces.create();
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await rowsOf(superuser, "delete from notify.preferences");
    const told = (await surfaces.toldOf(id)).find(({ to }) => to === "rita");
    expect(told).toMatchObject({ channel: "in-app", stage: "preference" });
    expect(await surfaces.unmatched()).toEqual([]);
  });

  test("a customer whose address takes no mail any more has not been asked, and people who can fix it are told", async () => {
    await quiet(surfaces);
    await rowsOf(
      superuser,
      "select notify.suppress('acme', notify.address_mark('acme', $1), 'bounced', 'no such mailbox')",
      [customer.email],
    );
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    expect(await unasked(id)).toBe("mail_failed");
    const sweep = () => runTimers(surfaces.db.as("headroom_executor").pool);
    expect(await sweep()).toEqual({ ...nothing, unasked: 1 });
    expect(await sweep()).toEqual(nothing);
    expect((await surfaces.toldOf(id)).filter(({ audience }) => audience === "fixers").map(({ to }) => to)).toEqual([
      "cora",
    ]);
    await rowsOf(superuser, "select notify.lift_suppression('acme', $1, 'ada')", [customer.email]);
  });

  test("a customer's bounced mail is reported to people who can reach them; while an answer is awaited, by the timers", async () => {
    await surfaces.settings({ public_url: "https://capacity.acme.example" });
    const ready = await surfaces.createIn("PROVISIONING", { customer });
    const title = `Mail to the customer of ${ready} does not arrive`;
    expect(await bounced(ready)).toEqual([
      { recipient: "ada", title },
      { recipient: "rita", title },
    ]);
    expect(await surfaces.unmatched()).toEqual([]);
    const asked = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    expect(await bounced(asked)).toEqual([]);
    expect(await unasked(asked)).toBe("mail_failed");
  });

  test("a mail that bounces during a sweep is reported once, by the next one", async () => {
    await surfaces.settings({ public_url: "https://capacity.acme.example" });
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    await rowsOf(superuser, "select capacity.timer_unasked(1000)");
    const client = await surfaces.db.superuser.connect();
    const sweep = () => client.query("select capacity.timer_unasked(1000)");
    await client.query("begin");
    await client.query("select now()");
    await bounced(id);
    await sweep();
    await client.query("commit");
    await sweep();
    await sweep();
    await client.end();
    const said = "select from capacity.notices where request_id = $1 and kind = 'unasked'";
    expect(await rowsOf(superuser, said, [id])).toHaveLength(1);
  });

  test("a person who was asked and has left since is not told that they need not look any more", async () => {
    const { id } = await surfaces.create({ customer });
    const asked = `select unnest((capacity.context_of(r, null, null, null)).told) as told from capacity.requests r where r.id = $1`;
    const before = await rowsOf<{ told: string }>(superuser, asked, [id]);
    const client = await surfaces.db.superuser.connect();
    await client.query("begin");
    await client.query("select directory.remove_member('acme', $1)", [before[0]?.told.split(":")[1]]);
    expect(await rowsOf(client, asked, [id])).toEqual(before.slice(1));
    await client.query("rollback");
    await client.end();
  });

  test("the people who are still asked are found by the request alone, however many others were told, and with a plan from when there were few", async () => {
    const { id } = await surfaces.create();
    const client = await surfaces.db.superuser.connect();
    const asked = `select cardinality((capacity.context_of(r, null, null, null)).told) as n from capacity.requests r where r.id = $1`;
    await client.query("set plan_cache_mode = force_generic_plan");
    const { n } = await oneOf<{ n: number }>(client, asked, [id]);
    expect(n).toBeGreaterThan(1);
    await client.query("begin");
    await client.query(
      `insert into notify.notifications (workspace_id, recipient_kind, recipient, idempotency_key, category, cause, about, title, body, channels, expires_at)
       select 'acme', 'member', 'rita', 'CR-2020-' || g || '#1/asked:commercial', 'reviews', 'REQUEST_SUBMITTED', 'CR-2020-' || g, 't', 'b', '{in-app}', now() + interval '1 day'
         from generate_series(1, 3000) g`,
    );
    const read = `select (select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) from pg_index i where i.indrelid = t.oid)::integer
                         + pg_stat_get_xact_tuples_returned(t.oid)::integer as n from pg_class t where t.oid = 'notify.notifications'::regclass`;
    const before = await oneOf<{ n: number }>(client, read);
    expect(await oneOf(client, asked, [id])).toEqual({ n });
    const after = await oneOf<{ n: number }>(client, read);
    await client.query("rollback");
    await client.end();
    expect(after.n - before.n).toBeLessThan(100);
  });

  test("a mail that was enqueued before mails were notifications still counts as asking", async () => {
    const id = await surfaces.createIn("CUSTOMER_CONFIRMATION_REQUIRED", { customer });
    const client = await surfaces.db.superuser.connect();
    await client.query("begin; set local session_replication_role = replica");
    await client.query(
      "update capacity.events set effects = array_replace(effects, 'tell:customer', 'email:confirmation') where request_id = $1",
      [id],
    );
    const { asked } = await oneOf<{ asked: unknown }>(
      client,
      "select to_jsonb(l) - 'asked_at' as asked from capacity.links_of($1) l",
      [id],
    );
    await client.query("rollback");
    expect(asked).toEqual({ warns: false, notice_id: null, outbox_id: null, lost: false });
  });

  test("verification finds effects that notified nobody, and notifications without a cause", async () => {
    const { id } = await surfaces.create({ customer });
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    const client = await surfaces.db.superuser.connect();
    const found = async (statement: string): Promise<unknown> => {
      await client.query("begin");
      await client.query(statement, [id]);
      const { found: all } = await oneOf<{ found: { code: string; subject: string }[] }>(
        client,
        "select findings as found from capacity.verify_requests()",
      );
      await client.query("rollback");
      return all
        .filter(({ code }) => code.startsWith("notification_"))
        .map(({ code, subject }) => `${code} ${subject.startsWith(id) ? subject.slice(id.length) : "{id}"}`);
    };
    expect(await found("select $1::text")).toEqual([]);
    expect(await found("delete from notify.notifications where about = $1 and recipient = 'rita'")).toEqual([
      "notification_missing #2",
    ]);
    expect(
      await found(
        "update notify.notifications set idempotency_key = about || '#2/operators' where about = $1 and recipient = 'rita'",
      ),
    ).toEqual(["notification_extra {id}", "notification_missing #2"]);
    expect(
      await found(
        "update notify.notifications set idempotency_key = about || '#9/requester' where about = $1 and recipient = 'rita'",
      ),
    ).toEqual(["notification_extra {id}", "notification_missing #2"]);
  });
});
