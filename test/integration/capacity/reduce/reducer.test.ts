/**
 * The reducer: what one event does to a request, what it must not do, and that the log alone has the whole story.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { memberSession, overHttp } from "../gateway.ts";
import type { EventType } from "./model.ts";
import { codeOf, oneOf, refusalOf, refusedAs, rowsOf, startWorkflow } from "../harness.ts";

const day = 24 * 3_600_000;

describe.each(POSTGRES_VERSIONS)("the reducer on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  describe("a request's whole life", () => {
    test("goes from submission through both reviews and the customer's yes to its completion", async () => {
      const { id } = await workflow.create();
      expect(await workflow.apply(id, "TECH_REVIEW_APPROVED", "tim")).toMatchObject({
        state: "UNDER_REVIEW",
        version: 2,
        repeated: false,
      });
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "cora")).toMatchObject({
        state: "CUSTOMER_CONFIRMATION_REQUIRED",
        version: 3,
      });
      expect(await workflow.apply(id, "CUSTOMER_CONFIRMED", "customer:customer")).toMatchObject({
        state: "PROVISIONING",
      });
      expect(await workflow.apply(id, "PROVISIONING_COMPLETE", "system:job")).toMatchObject({ state: "COMPLETED" });
      const row = await workflow.row(id);
      expect(row).toMatchObject({ version: 5, commercial_approved_by: "cora", technical_approved_by: "tim" });
      const log = await workflow.events(id);
      expect(log.map((event) => [event.seq, event.event_type, event.actor_type, event.actor_id])).toEqual([
        [1, "REQUEST_SUBMITTED", "user", "rita"],
        [2, "TECH_REVIEW_APPROVED", "user", "tim"],
        [3, "COMMERCIAL_APPROVED", "user", "cora"],
        [4, "CUSTOMER_CONFIRMED", "customer", "customer"],
        [5, "PROVISIONING_COMPLETE", "system", "job"],
      ]);
      await workflow.expectWhole([id]);
    });

    test("the customer has as many days of 24 hours as the request says, from the second approval on", async () => {
      const { id } = await workflow.create({ ttlDays: 40 });
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
      await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
      const row = await workflow.row(id);
      expect(row.next_deadline_at!.getTime() - row.updated_at.getTime()).toBe(40 * day);
      const token = await oneOf<{ expires_at: Date; used_at: Date | null; mine: boolean }>(
        workflow.superuser,
        `select t.expires_at, t.used_at, t.id = r.confirmation_token_id as mine
           from capacity.confirmation_tokens t join capacity.requests r on r.id = t.request_id where r.id = $1`,
        [id],
      );
      expect(token).toEqual({ expires_at: row.next_deadline_at, used_at: null, mine: true });
      await workflow.apply(id, "CUSTOMER_CONFIRMED", "customer:customer");
      expect((await workflow.row(id)).next_deadline_at).toBeNull();
    });

    test.each(["UNDER_REVIEW", "CUSTOMER_CONFIRMATION_REQUIRED", "PROVISIONING"] as const)(
      "it can be cancelled while it is %s, and says by whom and why",
      async (state) => {
        const id = await workflow.createIn(state);
        await workflow.apply(id, "CANCEL_APPROVED", "ada", { payload: { reason: "Project stopped\n(again)" } });
        expect(await workflow.row(id)).toMatchObject({
          state: "CANCELLED",
          cancellation_reason: "Project stopped\n(again)",
          cancellation_authorizer_user_id: "ada",
          next_deadline_at: null,
        });
        await workflow.expectWhole([id]);
      },
    );

    test("a rejection ends it and keeps the reason", async () => {
      const id = await workflow.createIn("UNDER_REVIEW");
      await workflow.apply(id, "TECH_REVIEW_REJECTED", "tess", { payload: { reason: "No room in that region" } });
      expect(await workflow.row(id)).toMatchObject({ state: "REJECTED", rejection_reason: "No room in that region" });
      expect(await codeOf(workflow.apply(id, "COMMERCIAL_APPROVED", "cora"))).toBe("invalid_transition");
      expect(await codeOf(workflow.apply(id, "CANCEL_APPROVED", "rita"))).toBe("invalid_transition");
      await workflow.expectWhole([id]);
    });

    test("the commercial owner records the customer's answer, and the log says on whose behalf", async () => {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      await workflow.apply(id, "CUSTOMER_DECLINED", "cora", { payload: { reason: "Too expensive" } });
      expect(await workflow.row(id)).toMatchObject({ state: "CANCELLED", cancellation_reason: "Too expensive" });
      expect((await workflow.events(id)).at(-1)).toMatchObject({
        actor_type: "user",
        actor_id: "cora",
        payload: { on_behalf_of: "customer", reason_hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
      expect(await workflow.lastShown(id)).toMatchObject({
        payload: { on_behalf_of: "customer", reason: "Too expensive" },
      });
    });
  });

  describe("a decision that was already made", () => {
    const lives: [EventType, string, "UNDER_REVIEW" | "CUSTOMER_CONFIRMATION_REQUIRED" | "PROVISIONING", string][] = [
      ["COMMERCIAL_APPROVED", "cora", "UNDER_REVIEW", "carl"],
      ["TECH_REVIEW_APPROVED", "tess", "UNDER_REVIEW", "tim"],
      ["COMMERCIAL_REJECTED", "cora", "UNDER_REVIEW", "cora"],
      ["TECH_REVIEW_REJECTED", "tess", "UNDER_REVIEW", "tim"],
      ["CUSTOMER_CONFIRMED", "customer:customer", "CUSTOMER_CONFIRMATION_REQUIRED", "customer:customer"],
      ["CUSTOMER_DECLINED", "cora", "CUSTOMER_CONFIRMATION_REQUIRED", "customer:customer"],
      ["PROVISIONING_COMPLETE", "system:job", "PROVISIONING", "otto"],
      ["PROVISIONING_FAILED", "otto", "PROVISIONING", "system:job"],
      ["CANCEL_APPROVED", "rita", "PROVISIONING", "ada"],
      ["CANCEL_APPROVED", "ada", "UNDER_REVIEW", "rita"],
    ];

    test.each(lives)(
      "is answered with who and when: %s by %s of a request that was %s",
      async (event, first, state, second) => {
        const id = await workflow.createIn(state);
        const done = await workflow.apply(id, event, first);
        const before = await workflow.row(id);
        const log = await workflow.events<{ created_at: Date }>(id);
        const again = await workflow.apply(id, event, second, { payload: {}, expectedVersion: 1 });
        expect(again).toEqual({
          state: done.state,
          version: done.version,
          repeated: true,
          decided_by: first.split(":").at(-1),
          decided_at: log.at(-1)!.created_at,
        });
        expect(await workflow.row(id)).toEqual(before);
        expect(await workflow.events(id)).toEqual(log);
      },
    );

    test("is answered in every later state too", async () => {
      const id = await workflow.createIn("PROVISIONING");
      await workflow.apply(id, "CANCEL_APPROVED", "ada");
      for (const [event, by] of [
        ["REQUEST_SUBMITTED", "rita"],
        ["COMMERCIAL_APPROVED", "cora"],
        ["TECH_REVIEW_APPROVED", "tess"],
        ["CUSTOMER_CONFIRMED", "customer"],
      ] as const) {
        expect(await workflow.apply(id, event, "vera")).toMatchObject({
          state: "CANCELLED",
          version: 5,
          repeated: true,
          decided_by: by,
        });
      }
    });

    test("is shown to those who may read the request, and refused to others", async () => {
      const id = await workflow.createIn("UNDER_REVIEW");
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
      const repeat = (member: string) =>
        overHttp(workflow.db, memberSession(member), (client) =>
          oneOf(client, "select * from public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', $2)", [
            id,
            member,
          ]),
        );
      expect(await repeat("rita")).toMatchObject({ id, version: 2, commercial_approved_by: "cora" });
      expect(await codeOf(repeat("dora"))).toBe("not_found");
    });
  });

  describe("a caller who knows an old version", () => {
    test("is refused, and nothing changes", async () => {
      const id = await workflow.createIn("UNDER_REVIEW");
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora", { expectedVersion: 1 });
      const refusal = await refusalOf(workflow.apply(id, "TECH_REVIEW_APPROVED", "tess", { expectedVersion: 1 }));
      expect(refusal).toMatchObject({
        code: "PT409",
        detail: "stale_version: version 2, expected 1",
        hint: expect.stringContaining("Read it again"),
      });
      expect(await workflow.row(id)).toMatchObject({ version: 2, technical_approved_at: null });
      expect(await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess", { expectedVersion: 2 })).toMatchObject({
        version: 3,
      });
    });
  });

  describe("time", () => {
    test("an answer after the deadline is refused, even before the sweep", async () => {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      await workflow.passDeadline(id);
      for (const actor of ["customer:customer", "cora"]) {
        expect(await codeOf(workflow.apply(id, "CUSTOMER_CONFIRMED", actor))).toBe("deadline_passed");
      }
      expect(await codeOf(workflow.apply(id, "CUSTOMER_DECLINED", "customer:customer"))).toBe("deadline_passed");
      expect(await workflow.apply(id, "CUSTOMER_CONFIRMATION_TIMEOUT", "cron:timer")).toMatchObject({
        state: "EXPIRED",
      });
    });

    test("at the deadline itself the time has passed, and a microsecond before it has not", async () => {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      const at = (moment: string): Promise<unknown> =>
        oneOf(
          workflow.superuser,
          `select (capacity.authorize(row('customer', 'customer', 'link'), null, r, 'CUSTOMER_DECLINED', ${moment})).allowed as customer,
                  (capacity.authorize(capacity.timer_actor(), null, r, 'CUSTOMER_CONFIRMATION_TIMEOUT', ${moment})).allowed as timer
             from capacity.requests r where r.id = $1`,
          [id],
        );
      expect(await at("r.next_deadline_at")).toEqual({ customer: false, timer: true });
      expect(await at("r.next_deadline_at - interval '1 microsecond'")).toEqual({ customer: true, timer: false });
    });

    test("the clock ends nothing early, and nobody else can act as the clock", async () => {
      const id = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      expect(await codeOf(workflow.apply(id, "CUSTOMER_CONFIRMATION_TIMEOUT", "cron:timer"))).toBe("not_allowed");
      await workflow.passDeadline(id);
      for (const actor of ["ada", "cora", "system:x", "customer:customer"]) {
        expect(await codeOf(workflow.apply(id, "CUSTOMER_CONFIRMATION_TIMEOUT", actor))).toBe("not_allowed");
      }
    });

    test("an event is never dated before the previous one, whatever the clock says", async () => {
      const id = await workflow.createIn("UNDER_REVIEW");
      const later = new Date(Date.now() + day);
      await rowsOf(workflow.superuser, "update capacity.requests set updated_at = $2 where id = $1", [id, later]);
      await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
      const log = await workflow.events<{ created_at: Date }>(id);
      expect(log.at(-1)!.created_at).toEqual(later);
    });
  });

  describe("the log", () => {
    test.each(["events", "notices"])("capacity.%s is append-only, for its owner and a superuser too", async (table) => {
      await workflow.createIn("UNDER_REVIEW");
      for (const role of ["headroom_owner", "postgres"] as const) {
        const { pool } = workflow.db.as(role);
        for (const statement of [
          `update capacity.${table} set actor_id = 'x'`,
          `delete from capacity.${table}`,
          `truncate capacity.${table} cascade`,
        ]) {
          expect(await refusalOf(rowsOf(pool, statement))).toMatchObject(refusedAs("append_only"));
        }
      }
    });

    test("hashes and folds do not depend on the session's settings", async () => {
      const id = await workflow.createIn("PROVISIONING");
      const look = `select md5(string_agg(encode(capacity.event_hash('\\x01', e), 'hex'), ',' order by e.seq)) as hashes,
                           (select capacity.fold(array_agg(x order by x.seq)) from capacity.events x where x.request_id = $1)
                             = (select r from capacity.requests r where r.id = $1) as folds
                      from capacity.events e where e.request_id = $1`;
      const plain = await oneOf<{ hashes: string; folds: boolean }>(workflow.superuser, look, [id]);
      expect(plain.folds).toBe(true);
      const client = await workflow.db.superuser.connect();
      await client.query(`set timezone = 'America/St_Johns'; set datestyle = 'German'; set bytea_output = 'escape';
                          set intervalstyle = 'iso_8601'; set extra_float_digits = -5; set standard_conforming_strings = off`);
      expect(await oneOf(client, look, [id])).toEqual(plain);
      await client.end();
    });

    test("a deadline is an exact multiple of 24 hours even across a change to summer time", async () => {
      const client = await workflow.db.superuser.connect();
      for (const zone of ["UTC", "America/New_York", "Europe/Berlin"]) {
        await client.query(`set timezone = '${zone}'`);
        const { after } = await oneOf<{ after: Date }>(
          client,
          `select (capacity.project(
                     jsonb_populate_record(null::capacity.requests, '{"version": 2, "confirmation_ttl_days": 40}'),
                     jsonb_populate_record(null::capacity.events, '{"event_type": "TECH_REVIEW_APPROVED", "payload": {},
                       "state_before": "UNDER_REVIEW", "state_after": "CUSTOMER_CONFIRMATION_REQUIRED", "created_at": "2026-03-01T12:00:00Z"}')
                   )).next_deadline_at as after`,
        );
        expect(after).toEqual(new Date("2026-04-10T12:00:00Z"));
      }
      await client.end();
    });

    test("nothing is recorded when a side effect cannot be enqueued", async () => {
      await workflow.db.superuser.pool.query(
        "update directory.workspaces set slack_channel_id = 'C0BROKEN' where id = 'acme'",
      );
      const id = await workflow.createIn("UNDER_REVIEW");
      await workflow.db.superuser.pool.query(
        "update directory.workspaces set slack_channel_id = null where id = 'acme'",
      );
      await workflow.db.superuser.pool.query(
        `create function public.refuse_row() returns trigger language plpgsql as $$ begin raise exception 'disk full' using errcode = '53100'; end $$;
         create trigger refuse_row before insert on outbox.dedupe for each row execute function public.refuse_row()`,
      );
      const before = await workflow.size();
      expect(await refusalOf(workflow.apply(id, "COMMERCIAL_APPROVED", "cora"))).toMatchObject({ code: "53100" });
      expect(await workflow.size()).toEqual(before);
      await workflow.db.superuser.pool.query("drop trigger refuse_row on outbox.dedupe");
      expect(await workflow.apply(id, "COMMERCIAL_APPROVED", "cora")).toMatchObject({ version: 2 });
      await workflow.expectWhole([id]);
    });
  });

  describe("the story of one request", () => {
    test("names whom it waits for, and who did what", async () => {
      const id = await workflow.createIn("UNDER_REVIEW", { customer: { name: "Initech" } });
      await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
      const { story } = await oneOf<{ story: Record<string, unknown> }>(
        workflow.superuser,
        "select public.get_capacity_request($1) as story",
        [id],
      );
      expect(Object.keys(story).toSorted()).toEqual([
        "customer",
        "deliveries",
        "erasure",
        "history",
        "jobs",
        "money",
        "notices",
        "pending_approvals",
        "request",
      ]);
      expect(story["request"]).toMatchObject({ id, state: "UNDER_REVIEW", customer_ref: { name: "Initech" } });
      expect(story["history"]).toMatchObject([
        { seq: 1, event_type: "REQUEST_SUBMITTED", actor_id: "rita" },
        { seq: 2, event_type: "TECH_REVIEW_APPROVED", actor_id: "tess", hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
      ]);
      expect(story["pending_approvals"]).toMatchObject([
        { step: "commercial", reviewers: [{ id: "cora", name: "Cora" }], endorsers: [] },
      ]);
    });

    test("is for readers of the request, in its own workspace", async () => {
      const id = await workflow.createIn("UNDER_REVIEW");
      const look = (member: string, workspace = "acme") =>
        overHttp(workflow.db, memberSession(member, workspace), (client) =>
          oneOf<{ story: unknown }>(client, "select public.get_capacity_request($1) as story", [id]),
        );
      for (const reader of ["rita", "cora", "tess", "ada"]) expect(await look(reader)).toBeTruthy();
      for (const stranger of ["dora", "carl", "vera"]) expect(await codeOf(look(stranger))).toBe("not_found");
      expect(await codeOf(look("rita", "globex"))).toBe("not_found");
      expect(await codeOf(look("glen", "globex"))).toBe("not_found");
      await workflow.setAway("cora", true);
      expect(await look("dora")).toBeTruthy();
      await workflow.setAway("cora", false);
    });
  });
});
