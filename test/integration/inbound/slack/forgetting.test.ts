/**
 * What was said to one person in Slack is useful for minutes, and is deleted soon after, whatever its outcome: a form that was opened and
 * never sent, one that could not be opened, one in doubt, one that was never delivered, a refusal that quotes what was typed. No erasure
 * would find these, since they belong to no request.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Erasing } from "../../capacity/erase/erasing.ts";
import { digestsOf, tracesOf } from "../../capacity/traces.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import type { Claimed, Outcome, Stream } from "../../outbox/harness.ts";
import { clickBody, commandBody, sign, startSlack, submissionBody, typed } from "./slack.ts";

const words = ["initech", "rubicon"];
/** In minutes: a note is useful for five, a form for three seconds, and half an hour later both are deleted. */
const longSince = 36;
const terms = "32XL us-east-1 for Initech Ltd email bill@initech.example owner @cora group infra";

describe.each(POSTGRES_VERSIONS)("deleting Slack data on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;
  const { db, superuser } = workflow;
  const erasing = new Erasing(workflow);
  const { engine } = erasing;
  const executor = db.as("headroom_executor").pool;
  let interactions: Stream = { id: 0, name: "interactions" };

  beforeAll(async () => {
    await erasing.start();
    interactions = await oneOf<Stream>(
      superuser,
      "select stream_id as id, name from outbox.streams where name = 'interactions'",
    );
  });

  /** Makes everything that came in and went out that much older, or younger. */
  async function age(minutes: number): Promise<void> {
    await superuser.query(
      `update outbox.payloads set expires_at = expires_at - ${minutes} * interval '1 minute', created_at = created_at - ${minutes} * interval '1 minute';
       update outbox.pending_unordered set expires_at = expires_at - ${minutes} * interval '1 minute';
       update inbound.receipts set received_at = received_at - ${minutes} * interval '1 minute'`,
    );
  }

  /** A form that names a customer, in flight: claimed before its three seconds have passed, however slow the machine is. */
  async function openForm(): Promise<Claimed> {
    await slack.send(sign(commandBody(terms)));
    await age(-5);
    const row = await engine.claimOne(interactions);
    await age(5);
    expect(await tracesOf(db, words)).toEqual(["outbox.payloads"]);
    return row;
  }

  const settle = (row: Claimed, outcome: Outcome) =>
    engine.settle(interactions, [{ row, outcome, code: outcome === "rejected" ? "expired_trigger_id" : outcome }]);
  const sweep = () => runTimers(executor);
  const deadLetters = () => rowsOf<{ parked: boolean }>(superuser, "select parked from outbox.dead");
  const lastLine = (id: string) =>
    oneOf(
      superuser,
      "select state::text, actor, reason is not null as explained from outbox.attempts where outbox_id = $1 order by attempt_no desc limit 1",
      [id],
    );

  const refusals = () =>
    rowsOf<{ refusal: string }>(
      superuser,
      "select refusal from inbound.receipts where refusal is not null order by received_at",
    );

  /** What is left of it afterwards: nothing, and the invariants hold. */
  async function expectForgotten(): Promise<void> {
    expect(await tracesOf(db, words)).toEqual([]);
    expect(await tracesOf(db, digestsOf([terms, "Initech Ltd", "bill@initech.example"]))).toEqual([]);
    expect(
      await rowsOf(
        superuser,
        "select from outbox.dedupe d join outbox.streams s using (stream_id) where s.name = 'interactions' and d.salt is not null",
      ),
    ).toEqual([]);
    expect(await deadLetters()).toEqual([]);
    const verified = await oneOf<{ findings: unknown[] }>(
      db.as("headroom_auditor").pool,
      "select findings from capacity.verify_deliveries()",
    );
    expect(verified.findings).toEqual([]);
    await engine.assertInvariants();
  }

  test("a form that was opened and never sent is deleted long after its time, and not before", async () => {
    const row = await openForm();
    await settle(row, "delivered");
    expect(await sweep()).toMatchObject({ failed: [] });
    expect(await tracesOf(db, words)).toEqual(["outbox.payloads"]);
    await age(longSince);
    expect(await sweep()).toMatchObject({ failed: [], more: false });
    await expectForgotten();
    expect(await lastLine(row.outbox_id)).toMatchObject({ state: "DISPATCHED" });
    // Slack's repeat is still recognised.
    expect(await oneOf(superuser, "select outcome from inbound.receipts order by received_at desc limit 1")).toEqual({
      outcome: "opened",
    });
  });

  test("a form that could not be opened is given up and deleted, though nobody handled its dead letter", async () => {
    const row = await openForm();
    await settle(row, "rejected");
    expect(await sweep()).toMatchObject({ failed: [] });
    expect(await deadLetters()).toEqual([{ parked: false }]);
    await age(longSince);
    await sweep();
    await expectForgotten();
    expect(await lastLine(row.outbox_id)).toEqual({ state: "SKIPPED", actor: "headroom", explained: true });
  });

  test("a form that may or may not have opened waits for a person no longer than it is useful", async () => {
    const row = await openForm();
    await settle(row, "unknown");
    expect(await deadLetters()).toEqual([{ parked: true }]);
    await age(longSince);
    await sweep();
    await expectForgotten();
  });

  test("a form that no relay ever sent is deleted", async () => {
    await slack.send(sign(commandBody(terms)));
    await age(longSince);
    await sweep();
    await expectForgotten();
    expect(await engine.claim(interactions)).toEqual([]);
  });

  test("a form in flight is left alone, and deleted once it has an outcome", async () => {
    const row = await openForm();
    await age(longSince);
    expect(await sweep()).toMatchObject({ failed: [] });
    expect(await tracesOf(db, words)).toEqual(["outbox.payloads"]);
    await settle(row, "delivered");
    await sweep();
    await expectForgotten();
  });

  test("a dead letter is deleted even when no receipt of it is left", async () => {
    await settle(await openForm(), "rejected");
    await superuser.query("delete from inbound.receipts");
    await age(longSince);
    await sweep();
    await expectForgotten();
  });

  test("a refusal that quotes what was typed keeps only its code, and the note that said it is deleted", async () => {
    const id = await workflow.createIn("UNDER_REVIEW", { customer: null });
    await slack.command("create 32XL us-east-1 for Initech Ltd owner Rubicon group infra");
    await slack.submit(
      "capacity_intake",
      { size: typed("32XL"), region: typed("us-east-1"), customer: typed("Initech Ltd"), owner: typed("Rubicon") },
      {},
      "U0RITA",
    );
    // So late that it is also sent as a note.
    await slack.submit(
      "capacity_intake",
      { size: typed("32XL"), region: typed("us-east-1"), owner: typed("Rubicon") },
      {},
      "U0RITA",
      3,
    );
    await slack.send(sign(clickBody("commercial_approve", id, "U0ROB")));
    expect(await tracesOf(db, words)).toEqual(["inbound.receipts", "outbox.payloads"]);
    expect((await refusals())[0]?.refusal).toContain("Rubicon");
    await age(longSince);
    await sweep();
    expect((await refusals()).map(({ refusal }) => refusal)).toEqual([
      "invalid_input",
      "invalid_input",
      "invalid_input",
      "not_allowed",
    ]);
    await expectForgotten();
  });

  test("a refused form that comes again later is still told that it was refused", async () => {
    const metadata = { channel: "C024BE91L" };
    const body = sign(
      submissionBody(
        "capacity_intake",
        { size: typed("32XL"), region: typed("us-east-1"), owner: typed("Rubicon") },
        metadata,
        "U0RITA",
      ),
    );
    const first = await slack.send(body);
    expect(JSON.stringify(first)).toContain("Rubicon");
    expect(JSON.stringify(await slack.send(body))).toContain("Rubicon");
    await age(longSince);
    await sweep();
    expect(await slack.send(body)).toEqual({ response_action: "errors", errors: { owner: "This was refused." } });
    await expectForgotten();
  });

  test("a call deletes a limited number, and says that there is more", async () => {
    await slack.command(terms);
    await superuser.query(
      `update outbox.streams set forget_minutes = 1 where name = 'interactions';
       select outbox.add_row(false, null, 'interactions', null, 'slack:many-' || n, 'note', 'slack-interaction', '{"text": "Initech"}', p_expires_at => now() - interval '1 hour')
         from generate_series(1, 600) n`,
    );
    await age(2);
    expect(await sweep()).toMatchObject({ more: true, failed: [] });
    expect(await sweep()).toMatchObject({ more: false, failed: [] });
    await expectForgotten();
    await superuser.query("update outbox.streams set forget_minutes = 30 where name = 'interactions'");
  });

  test("a row that cannot be deleted stops no other, and is reported", async () => {
    const { outbox_id: bad, ...rest } = await openForm();
    await settle({ outbox_id: bad, ...rest }, "rejected");
    await slack.command(terms);
    await superuser.query(
      `create function public.spoilt() returns trigger language plpgsql as $$
       begin if new.outbox_id = tg_argv[0]::uuid then raise exception 'this row is spoilt'; end if; return new; end $$;
       create trigger spoilt before update on outbox.payloads for each row when (new.payload is null) execute function public.spoilt('${bad}')`,
    );
    await age(longSince);
    expect(await sweep()).toMatchObject({ failed: [{ request_id: "interactions", timer: "forget" }] });
    expect(
      await rowsOf(
        superuser,
        "select outbox_id from outbox.payloads where payload is not null and payload::text ~* 'initech'",
      ),
    ).toEqual([{ outbox_id: bad }]);
    await superuser.query("drop trigger spoilt on outbox.payloads; drop function public.spoilt()");
    expect(await sweep()).toMatchObject({ failed: [] });
    expect(await rowsOf(superuser, "select from capacity.timer_failures")).toEqual([]);
    await expectForgotten();
  });

  test("of two sweeps at the same time the second does not wait for the first", async () => {
    await settle(await openForm(), "rejected");
    await age(longSince);
    const [one, other] = await db.twoConnections("headroom_executor");
    await one.query("begin");
    await runTimers(one);
    expect(await runTimers(other)).toMatchObject({ failed: [] });
    await one.query("commit");
    await expectForgotten();
  });

  test("the archive of a day with forms that could not be opened is collected like any other", async () => {
    await settle(await openForm(), "rejected");
    await age(longSince);
    await sweep();
    const { kept } = await oneOf<{ kept: string | null }>(
      superuser,
      `select outbox.why_keep_partition(p.class_id, p.partition, p.from_id, p.to_id, 1) as kept
         from outbox.archive_partitions() p
        where p.class_id = (select class_id from outbox.streams where name = 'interactions') and now() between p.from_at and p.to_at`,
    );
    expect(kept).not.toBe("dead_letters");
    await expectForgotten();
  });
});
