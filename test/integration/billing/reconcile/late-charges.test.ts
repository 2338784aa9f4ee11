/** Charges that nothing has named are asked for every hour: those of recent payments, each once, however many older ones there are. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";

/** Renewals of a request that were recorded so many days ago, one per second, without a charge. */
const renewals = `
  insert into billing.payments (id, workspace_id, request_id, purpose, invoice_id, payment_intent, currency, amount, counts, paid_at, event_id, recorded_at)
  select gen_random_uuid(), r.workspace_id, r.id, 'renewal', concat('in_', $2::integer, '_', g), concat('pi_', $2::integer, '_', g), 'USD', 100, true, now(),
         'test', now() - $2::integer * interval '1 day' + g * interval '1 second'
    from capacity.requests r, generate_series(1, $3::integer) g where r.id = $1`;
const read = `
  select (pg_stat_get_xact_tuples_returned('billing.payments'::regclass) + pg_stat_get_xact_blocks_fetched('billing.payments'::regclass))::integer as n`;
const asked = "select count(*)::integer as n from outbox.rows where instruction_id like 'look:payment_intent:pi_%'";

describe.each(POSTGRES_VERSIONS)("unnamed charges on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);

  test("a question without an answer holds up no other payment, and old payments are not read", async () => {
    const { id } = await m.bought();
    await rowsOf(m.superuser, renewals, [id, 2, 201]);
    await rowsOf(m.superuser, renewals, [id, 40, 20_000]);
    await rowsOf(m.superuser, "analyze billing.payments");
    const counts: number[] = [];
    const client = await m.db.superuser.connect();
    for (let hour = 0; hour < 2; hour += 1) {
      await client.query("begin");
      const before = await oneOf<{ n: number }>(client, read);
      await client.query("select billing.ask_charges()");
      const after = await oneOf<{ n: number }>(client, read);
      await client.query("commit");
      expect(after.n - before.n).toBeLessThan(1_000);
      counts.push((await oneOf<{ n: number }>(m.superuser, asked)).n);
    }
    await client.end();
    expect(counts).toEqual([200, 201]);
  });
});
