/**
 * An erasure that could not be finished immediately: it is recorded, the sweep finishes it when the messages that were in flight have an
 * outcome, and nothing is lost whichever process dies in between. Interleavings are named, on real connections.
 */
import { describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { customer, eraseText, startErasing } from "./erasing.ts";
import { memberSession } from "../gateway.ts";
import { tracesOf } from "../traces.ts";
import { oneOf, refusalOf, rowsOf } from "../harness.ts";

const words = ["initech", "tpsreport"];

describe.each(POSTGRES_VERSIONS)("finishing an erasure on PostgreSQL %i", async (version) => {
  const erasing = await startErasing(version);
  const { workflow, engine } = erasing;
  const { db, superuser } = workflow;
  const executor = db.as("headroom_executor").pool;
  const sweep = () => runTimers(executor);

  const stateOf = async (id: string) =>
    oneOf<{ state: string; waiting: number; messages: number }>(
      superuser,
      `select case when finished_at is null then 'waiting' else 'done' end as state, waiting, messages from capacity.erasures where request_id = $1`,
      [id],
    );
  const unfinished = () =>
    rowsOf(superuser, "select request_id from capacity.erasures where finished_at is null order by 1");

  test("what is in flight is counted, arrives, and is erased by the sweep automatically", async () => {
    const id = await erasing.offer();
    const inFlight = await erasing.claim();
    expect(inFlight.length).toBeGreaterThan(0);
    const first = await erasing.erase(id);
    expect(first).toMatchObject({ state: "waiting", finished_at: null });
    expect(first.messages.waiting).toBeGreaterThan(1);
    expect(await tracesOf(db, words)).toEqual(["outbox.payloads"]);

    // Still in flight: the sweep leaves it, reports nothing, and does not ask to be called again immediately.
    expect(await sweep()).toMatchObject({ erased: 0, failed: [], more: false });
    expect(await stateOf(id)).toMatchObject({ state: "waiting", waiting: first.messages.waiting });

    await erasing.settle(inFlight, () => "delivered");
    await erasing.deliver();
    expect(await sweep()).toMatchObject({ erased: 1, failed: [] });
    expect(await tracesOf(db, words)).toEqual([]);
    expect(await stateOf(id)).toEqual({
      state: "done",
      waiting: 0,
      messages: first.messages.erased + first.messages.waiting,
    });
    expect(await erasing.erase(id, memberSession("ada"), "again")).toMatchObject({
      state: "done",
      erased_at: first.erased_at,
      why: "asked to",
      messages: { waiting: 0 },
    });
    expect(await sweep()).toMatchObject({ erased: 0 });
    await erasing.expectVerified(id);
  });

  test("messages that die after the erasure was requested are given up by the sweep, and cannot be redriven", async () => {
    const id = await erasing.offer();
    const inFlight = await erasing.claim();
    expect(await erasing.erase(id)).toMatchObject({ state: "waiting" });
    await erasing.settle(inFlight, () => "rejected");
    await erasing.deliver({ slack: "rejected", linear: "rejected", email: "rejected" });
    expect(await sweep()).toMatchObject({ erased: 1, failed: [] });
    expect(await tracesOf(db, words)).toEqual([]);
    const [row] = inFlight;
    expect(await engine.redrive([row!.outbox_id])).toMatchObject([{ result: expect.not.stringMatching(/^redriven$/) }]);
    await erasing.expectVerified(id);
  });

  test("mail to colleagues is left to arrive: it may be about other requests too", async () => {
    await superuser.query(
      `update directory.workspaces set slack_channel_id = null where id = 'acme';
       update directory.members set email = 'cora@acme.example' where id = 'cora' and workspace_id = 'acme'`,
    );
    const id = await workflow.createIn("UNDER_REVIEW", { customer });
    await superuser.query("select public.nudge_capacity_request($1, 'rita')", [id]);
    await superuser.query("update directory.workspaces set slack_channel_id = 'C0ACME' where id = 'acme'");
    await superuser.query("update notify.parts set due_at = now() where state = 'held'");
    await superuser.query("select notify.release(1000)");
    expect(await erasing.erase(id)).toMatchObject({ state: "waiting", messages: { skipped: 0 } });
    await erasing.deliver();
    const mail = await oneOf<{ id: string }>(
      superuser,
      "select outbox_id as id from notify.deliveries where recipient_kind = 'member' and recipient = 'cora' and channel = 'email'",
    );
    expect(await engine.states(mail.id)).toEqual(["DISPATCHING", "DISPATCHED"]);
    expect(await sweep()).toMatchObject({ erased: 1 });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("nothing is lost when a relay dies with the messages: they are reaped, delivered by another, and erased", async () => {
    const id = await erasing.offer();
    await erasing.claim();
    await erasing.erase(id);
    await erasing.expireLeases();
    expect(await engine.reap()).toBeGreaterThan(0);
    expect(await sweep()).toMatchObject({ erased: 0 });
    await erasing.deliver();
    expect(await sweep()).toMatchObject({ erased: 1 });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("a crash before the erasure commits leaves everything unchanged; the next call does all of it", async () => {
    const id = await erasing.offer();
    await erasing.deliver();
    const before = await workflow.size();
    const traces = await tracesOf(db, words);
    const dying = await db.as("headroom_control").connect();
    await dying.query("begin");
    await dying.query(eraseText, [id, "asked to", "ada"]);
    dying.on("error", () => undefined);
    await superuser.query("select pg_terminate_backend($1, 5000)", [dying.pid]);
    expect(await workflow.size()).toEqual(before);
    expect(await tracesOf(db, words)).toEqual(traces);
    expect(await erasing.erase(id)).toMatchObject({ state: "done" });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("a crash of the sweep half-way leaves the erasure recorded; the next sweep finishes it", async () => {
    const id = await erasing.offer();
    const inFlight = await erasing.claim();
    await erasing.erase(id);
    await erasing.settle(inFlight, () => "delivered");
    await erasing.deliver();
    const dying = await db.as("headroom_executor").connect();
    await dying.query("begin");
    const { swept } = await oneOf<{ swept: { erased: number } }>(
      dying,
      "select public.run_capacity_request_timers() as swept",
    );
    expect(swept.erased).toBe(1);
    dying.on("error", () => undefined);
    await superuser.query("select pg_terminate_backend($1, 5000)", [dying.pid]);
    expect(await stateOf(id)).toMatchObject({ state: "waiting" });
    expect(await sweep()).toMatchObject({ erased: 1, failed: [] });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("of two sweeps at the same time the second skips what the first holds, and nothing is counted twice", async () => {
    const id = await erasing.offer();
    const inFlight = await erasing.claim();
    const first = await erasing.erase(id);
    await erasing.settle(inFlight, () => "delivered");
    await erasing.deliver();
    const [one, other] = await db.twoConnections("headroom_executor");
    await one.query("begin");
    expect(await runTimers(one)).toMatchObject({ erased: 1 });
    expect(await runTimers(other)).toMatchObject({ erased: 0, failed: [] });
    await one.query("commit");
    expect(await runTimers(other)).toMatchObject({ erased: 0, failed: [] });
    expect(await stateOf(id)).toMatchObject({ messages: first.messages.erased + first.messages.waiting });
    await erasing.expectVerified(id);
  });

  test("an erasure waits for a note that is being written, and erases it with the rest", async () => {
    const id = await erasing.offer();
    await erasing.deliver();
    const [writer, eraser] = await db.twoConnections("headroom_control");
    await writer.query("begin");
    await writer.query("select public.note_capacity_request($1, 'Initech calls again', 'rita')", [id]);
    const erasure = eraser.query(eraseText, [id, "asked to", "ada"]);
    await db.waitUntilBlocked(eraser);
    await writer.query("commit");
    await erasure;
    await erasing.deliver();
    expect(await sweep()).toMatchObject({ erased: 1 });
    expect(await tracesOf(db, words)).toEqual([]);
    await erasing.expectVerified(id);
  });

  test("an erasure that fails is reported, left alone for a while, and does not stop others", async () => {
    const [bad, good] = [await erasing.offer(), await erasing.offer()];
    const inFlight = await erasing.claim();
    await erasing.erase(bad);
    await erasing.erase(good);
    await erasing.settle(inFlight, () => "delivered");
    await erasing.deliver();
    await superuser.query(
      `create function public.spoilt() returns trigger language plpgsql as $$
       begin if new.request_id = tg_argv[0] then raise exception 'this row is spoilt'; end if; return new; end $$;
       create trigger spoilt before update on capacity.erasures for each row execute function public.spoilt('${bad}')`,
    );
    expect(await sweep()).toMatchObject({ erased: 1, failed: [{ request_id: bad, timer: "erasure" }] });
    expect(await unfinished()).toEqual([{ request_id: bad }]);
    expect(await sweep()).toMatchObject({ erased: 0, failed: [] });
    await superuser.query("drop trigger spoilt on capacity.erasures; drop function public.spoilt()");
    await superuser.query("update capacity.timer_failures set retry_at = now()");
    expect(await sweep()).toMatchObject({ erased: 1, failed: [] });
    expect(await rowsOf(superuser, "select from capacity.timer_failures")).toEqual([]);
    expect(await tracesOf(db, words)).toEqual([]);
  });

  test("a sweep handles no more than its limit, those first that were tried longest ago", async () => {
    const ids = [await erasing.offer(), await erasing.offer(), await erasing.offer()];
    const inFlight = await erasing.claim();
    for (const id of ids) await erasing.erase(id);
    const two = "select public.run_capacity_request_timers(2) as swept";
    // It changed nothing, so there is no reason to call again immediately.
    expect(await oneOf(executor, two)).toMatchObject({ swept: { erased: 0, more: false } });
    await erasing.settle(inFlight, () => "delivered");
    await erasing.deliver();
    expect(await oneOf(executor, two)).toMatchObject({ swept: { erased: 2, more: true } });
    expect(await oneOf(executor, two)).toMatchObject({ swept: { erased: 1, more: false } });
    expect(await unfinished()).toEqual([]);
  });

  test("only the functions write the record of an erasure", async () => {
    for (const role of ["headroom_control", "headroom_executor", "headroom_auditor"] as const) {
      expect(await refusalOf(db.as(role).pool.query("update capacity.erasures set finished_at = now()"))).toMatchObject(
        {
          code: "42501",
        },
      );
      expect(await refusalOf(db.as(role).pool.query("update capacity.free_texts set content = null"))).toMatchObject({
        code: "42501",
      });
    }
  });
});
