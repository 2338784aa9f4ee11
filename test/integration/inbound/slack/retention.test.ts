/**
 * How long receipts are kept: after ninety days the timers delete them, a limited number at a time.
 */
import { describe, expect, test } from "vitest";
import { runTimers } from "../../../../src/capacity/timers.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf } from "../../capacity/harness.ts";
import { startSlack } from "./slack.ts";

describe.each(POSTGRES_VERSIONS)("old deliveries on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { db, superuser } = slack.workflow;

  test("are deleted by the timers, the oldest first, and younger ones are kept", async () => {
    await slack.command("help");
    await superuser.query(
      `insert into inbound.receipts (provider, receipt_id, kind, received_at, payload)
       select 'slack', 'old:' || n, 'command', now() - interval '90 days' - n * interval '1 second', '{}'::jsonb from generate_series(1, 1200) n
       union all select 'slack', 'young', 'command', now() - interval '89 days', '{}'`,
    );
    const left = () =>
      oneOf<{ old: number; young: number }>(
        superuser,
        `select count(*) filter (where receipt_id ~ '^old:')::int as old, count(*) filter (where receipt_id !~ '^old:')::int as young
           from inbound.receipts`,
      );
    const executor = db.as("headroom_executor").pool;
    await runTimers(executor);
    expect(await left()).toEqual({ old: 200, young: 2 });
    await runTimers(executor);
    expect(await left()).toEqual({ old: 0, young: 2 });
  });
});
