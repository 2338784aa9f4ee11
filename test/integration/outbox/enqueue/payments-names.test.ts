import { beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Engine, oneOf, refusalOf, rowsOf, unique } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("the functions and views of the payment outbox on PostgreSQL %i", async (version) => {
  const engine = new Engine(await createTestDatabase({ version }));
  beforeAll(() => engine.start());

  async function stream(): Promise<{ id: number; name: string }> {
    const row = await oneOf<{ stream_id: number }>(
      engine.control,
      "select stream_id from outbox.streams where name = 'payments'",
    );
    return { id: row.stream_id, name: "payments" };
  }
  const enqueue = (participant: string, instruction = unique("i"), payload: unknown = { amount: 1 }) =>
    oneOf<{ outbox_id: string; sequence_id: number | null; created: boolean }>(
      engine.ingest,
      "select * from payments.enqueue_payment_outbox($1, $2, 'k', 'sure', $3)",
      [instruction, participant, JSON.stringify(payload)],
    );

  test("the pending view shows what waits, with its number and its next attempt", async () => {
    const participant = unique("p");
    const instruction = unique("i");
    const first = await enqueue(participant, instruction, { amount: 5 });
    const repeat = await enqueue(participant, instruction, { amount: 5 });
    expect(repeat).toEqual({ ...first, created: false });
    const [row] = await rowsOf<Record<string, unknown>>(
      engine.control,
      "select * from payments.payment_outbox_pending where outbox_id = $1",
      [first.outbox_id],
    );
    expect(row).toMatchObject({
      outbox_id: first.outbox_id,
      instruction_id: instruction,
      participant_id: participant,
      sequence_id: 1,
      idempotency_key: "k",
      rail_type: "sure",
      payload: { amount: 5 },
      attempt_count: 0,
      next_attempt_at: expect.any(Date),
      created_at: expect.any(Date),
    });
    await engine.drain(await stream());
  });

  test("the attempts view tells each line with stable ids, its claim and its end", async () => {
    const payments = await stream();
    const row = await enqueue(unique("p"));
    const claimed = await engine.claimOne(payments);
    await engine.settle(payments, [{ row: claimed, code: "accepted", reference: "bank-1" }]);
    const read = () =>
      rowsOf<Record<string, unknown>>(
        engine.db.as("headroom_auditor").pool,
        "select * from payments.payment_outbox_attempts where outbox_id = $1 order by attempt_no",
        [row.outbox_id],
      );
    const [dispatching, dispatched] = await read();
    expect(dispatching).toMatchObject({ attempt_no: 1, state: "DISPATCHING", completed_at: null, sequence_id: 1 });
    expect(dispatched).toMatchObject({
      attempt_no: 2,
      state: "DISPATCHED",
      rail_code: "accepted",
      rail_reference: "bank-1",
      latency_ms: 3,
    });
    expect(dispatched!["claimed_at"]).toEqual(dispatching!["claimed_at"]);
    expect(dispatched!["attempt_id"]).not.toBe(dispatching!["attempt_id"]);
    expect((await read()).map((line) => line["attempt_id"])).toEqual([
      dispatching!["attempt_id"],
      dispatched!["attempt_id"],
    ]);
  });

  test("the supervisor view shows depth, age, rows in flight and dead letters", async () => {
    const payments = await stream();
    const participants = [unique("p"), unique("p"), unique("p")];
    for (const participant of participants) await enqueue(participant);
    const claimed = await engine.claim(payments, { maxLanes: 2 });
    await engine.settle(payments, [{ row: claimed[0]!, outcome: "rejected" }]);
    const status = () =>
      oneOf<Record<string, unknown>>(
        engine.db.as("headroom_auditor").pool,
        "select * from payments.supervisor_outbox_status",
      );
    expect(await status()).toMatchObject({
      outbox_pending_depth: 1,
      dispatching_count: 1,
      dlq_depth: 1,
      parked_count: 0,
      blocked_participants: 1,
      stuck_dispatching_count: 0,
      due_participants: 1,
    });
    await engine.expireLeases(payments);
    expect(await status()).toMatchObject({ stuck_dispatching_count: 1 });
    await engine.reap();
    await engine.skip([claimed[0]!.outbox_id]);
    await engine.drain(payments);
    expect(await status()).toMatchObject({ outbox_pending_depth: 0, dlq_depth: 0, oldest_pending_age_seconds: 0 });
  });

  test("a bumped number stays empty, and strands neither an idle nor an active lane", async () => {
    const payments = await stream();
    const participant = unique("p");
    const bump = () =>
      oneOf<{ n: number }>(
        engine.db.as("headroom_owner").pool,
        "select payments.bump_participant_outbox_seq($1) as n",
        [participant],
      );
    expect(await bump()).toEqual({ n: 1 });
    const idle = await enqueue(participant);
    expect(idle.sequence_id).toBe(2);
    expect(await bump()).toEqual({ n: 3 });
    const active = await enqueue(participant);
    expect(active.sequence_id).toBe(4);
    expect(await engine.drain(payments)).toEqual([idle.outbox_id, active.outbox_id]);
    expect(await bump()).toEqual({ n: 5 });
    const woken = await enqueue(participant);
    expect(await engine.drain(payments)).toEqual([woken.outbox_id]);
    const next = await oneOf(
      engine.control,
      "select next_sequence_id from payments.participant_outbox_sequences where participant_id = $1",
      [participant],
    );
    expect(next).toEqual({ next_sequence_id: 7 });
  });

  test.each(["headroom_ingest", "headroom_executor", "headroom_control", "headroom_auditor"] as const)(
    "%s may not bump a sequence",
    async (role) => {
      expect(
        await refusalOf(rowsOf(engine.db.as(role).pool, "select payments.bump_participant_outbox_seq('p')")),
      ).toMatchObject({ code: "42501" });
    },
  );

  test("a participant's dead payment blocks it, and nobody else", async () => {
    const payments = await stream();
    const [mine, other] = [unique("p"), unique("p")];
    const first = await enqueue(mine);
    await engine.kill(payments);
    const second = await enqueue(mine);
    const elsewhere = await enqueue(other);
    expect(await engine.drain(payments)).toEqual([elsewhere.outbox_id]);
    await engine.redrive([first.outbox_id]);
    expect(await engine.drain(payments)).toEqual([first.outbox_id, second.outbox_id]);
  });
});
