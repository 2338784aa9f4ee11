/** A message's outcome is stored with it once it is known, so that decisions and lists need not read the archive. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { Engine, type Outcome } from "../outbox/harness.ts";
import { makeDue, somebody, tell } from "./harness.ts";

interface End {
  readonly stage: string;
  readonly lost: boolean;
  readonly reached: boolean;
}

describe.each(POSTGRES_VERSIONS)("outcomes of messages on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const db = workflow.superuser;
  const engine = new Engine(workflow.db);
  const people = { id: 0, name: "people" };
  beforeAll(async () => {
    await engine.start();
    people.id = (await oneOf<{ id: number }>(db, "select outbox.stream_id('people') as id")).id;
  });

  /** A mail to a person about a subject of its own, in flight. */
  async function mail(): Promise<{ about: string; id: string; outboxId: string }> {
    const about = `CR-${randomUUID().slice(0, 8)}`;
    const member = await somebody(db);
    const id = await tell(db, member, { channels: ["in-app", "email"], about });
    await makeDue(db, member);
    await rowsOf(db, "select notify.release(100)");
    const carried = "select outbox_id as id from notify.deliveries d join notify.parts p on p.delivery_id = d.id";
    const { id: outboxId } = await oneOf<{ id: string }>(db, `${carried} where p.notification_id = $1`, [id]);
    return { about, id, outboxId };
  }
  /** Delivers waiting messages of other tests. */
  const settle = async (id: string, outcome: Outcome): Promise<void> => {
    await engine.makeDue(people);
    const rows = await engine.claim(people);
    expect(rows.map((row) => row.outbox_id)).toContain(id);
    await engine.settle(
      people,
      rows.map((row) => ({ row, outcome: row.outbox_id === id ? outcome : "delivered" })),
    );
  };
  const endOf = (id: string): Promise<End> =>
    oneOf(
      db,
      `select s.stage, e.lost, e.reached_at is not null as reached
         from notify.part_ends e join notify.part_stages s on s.notification_id = e.notification_id and s.channel = e.channel
        where e.notification_id = $1`,
      [id],
    );
  const lastTold = async (about: string): Promise<Date | null> =>
    (await oneOf<{ at: Date | null }>(db, "select capacity.last_told($1) as at", [about])).at;
  const timeOf = async (query: string, id: string): Promise<Date> => (await oneOf<{ at: Date }>(db, query, [id])).at;
  const dispatched = "select recorded_at as at from outbox.attempts where outbox_id = $1 and state = 'DISPATCHED'";
  const learn = "select notify.record_outcome($1, $2, null, null)";

  test("one that waits, or is tried again, has reached nobody and is not lost", async () => {
    const { about, id, outboxId } = await mail();
    expect(await endOf(id)).toEqual({ stage: "waiting", lost: false, reached: false });
    await settle(outboxId, "retry");
    expect(await endOf(id)).toEqual({ stage: "waiting", lost: false, reached: false });
    expect(await lastTold(about)).toBeNull();
    await engine.skip([outboxId]);
    expect(await endOf(id)).toEqual({ stage: "given_up", lost: true, reached: false });
  });

  test("one that the channel accepted was told at that time; one that arrived, when that was reported; one that bounced, never", async () => {
    const { about, id, outboxId } = await mail();
    await settle(outboxId, "delivered");
    expect(await endOf(id)).toEqual({ stage: "sent", lost: false, reached: true });
    expect(await lastTold(about)).toEqual(await timeOf(dispatched, outboxId));
    await rowsOf(db, learn, [outboxId, "delivered"]);
    expect(await endOf(id)).toEqual({ stage: "delivered", lost: false, reached: true });
    const heard = "select outcome_at as at from notify.deliveries where outbox_id = $1";
    expect(await lastTold(about)).toEqual(await timeOf(heard, outboxId));
    await rowsOf(db, learn, [outboxId, "bounced"]);
    expect(await endOf(id)).toEqual({ stage: "bounced", lost: true, reached: false });
    expect(await lastTold(about)).toBeNull();
  });

  test("one that was given up is lost until it is redriven and delivered", async () => {
    const { about, id, outboxId } = await mail();
    await settle(outboxId, "rejected");
    expect(await endOf(id)).toEqual({ stage: "given_up", lost: true, reached: false });
    await engine.redrive([outboxId]);
    expect(await endOf(id)).toEqual({ stage: "waiting", lost: false, reached: false });
    await settle(outboxId, "delivered");
    expect(await endOf(id)).toEqual({ stage: "sent", lost: false, reached: true });
    expect(await lastTold(about)).toEqual(await timeOf(dispatched, outboxId));
  });

  test("one that was too late is lost, until its consequences are handled", async () => {
    const { id, outboxId } = await mail();
    await rowsOf(db, "update outbox.pending_unordered set expires_at = now() where outbox_id = $1", [outboxId]);
    expect(await engine.claim(people)).toEqual([]);
    expect(await endOf(id)).toEqual({ stage: "given_up", lost: true, reached: false });
    await rowsOf(db, "select notify.follow_endings(10)");
    expect(await endOf(id)).toEqual({ stage: "held", lost: false, reached: false });
  });

  test.each([true, false])("one in doubt that a person says arrived (%s)", async (arrived) => {
    const { about, id, outboxId } = await mail();
    await settle(outboxId, "unknown");
    await settle(outboxId, "unknown");
    const at = await timeOf("select died_at as at from outbox.dead where outbox_id = $1", outboxId);
    await engine.resolve(outboxId, arrived);
    expect(await endOf(id)).toMatchObject({ lost: !arrived, reached: arrived });
    expect(await lastTold(about)).toEqual(arrived ? at : null);
  });

  test("a notification that is only in an inbox tells nobody", async () => {
    const about = `CR-${randomUUID().slice(0, 8)}`;
    const id = await tell(db, await somebody(db), { about });
    expect(await rowsOf(db, "select from notify.part_ends where notification_id = $1", [id])).toEqual([]);
    expect(await lastTold(about)).toBeNull();
  });

  test("is deleted with the message, and not stored for one that is already deleted", async () => {
    const kept = "select from notify.settled where outbox_id = $1";
    const { id, outboxId } = await mail();
    await settle(outboxId, "delivered");
    expect(await rowsOf(db, kept, [outboxId])).toHaveLength(1);
    const age = "update notify.notifications set created_at = now() - interval '1000 days' where id = $1";
    await rowsOf(db, age, [id]);
    await rowsOf(db, "select notify.forget_old(100)");
    expect(await rowsOf(db, kept, [outboxId])).toEqual([]);
    const late = await mail();
    await rowsOf(db, age, [late.id]);
    await rowsOf(db, "select notify.forget_old(100)");
    await settle(late.outboxId, "delivered");
    expect(await rowsOf(db, kept, [late.outboxId])).toEqual([]);
  });
});
