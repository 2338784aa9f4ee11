/**
 * Many customers pay at the same time, each event comes twice and in any order: each request has one payment, one subscription, one job and one dispatch.
 */
import { expect, test } from "vitest";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";
import type { Thing } from "./stand-in.ts";

const payments = 200;
/** How many events are received at the same time. */
const atOnce = 20;

const m = await startMoney(18);

test(
  `${payments} payments at once: one subscription, one job and one dispatch each`,
  { timeout: 600_000 },
  async () => {
    const sessions: Thing[] = [];
    for (let n = 0; n < payments; n += 1) await m.begin(await m.offered());
    await m.deliver();
    for (const thing of Array.from(m.stripe.things.values())) sessions.push(m.paid(thing));
    expect(sessions).toHaveLength(payments);

    const events = sessions.flatMap((session, n) => [
      { type: "checkout.session.completed", session, id: `evt_a${n}` },
      { type: "checkout.session.completed", session, id: `evt_a${n}` },
      { type: "checkout.session.async_payment_succeeded", session, id: `evt_b${n}` },
    ]);
    // Neighbouring events belong to different requests and to the same one, alternately.
    events.sort(
      (one, two) =>
        ((one.id.length * 31 + one.id.charCodeAt(5)) % 7) - ((two.id.length * 31 + two.id.charCodeAt(5)) % 7),
    );
    const queue = events[Symbol.iterator]();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        for (const { type, session, id } of queue) await m.tells(type, session, { id });
      }),
    );

    const counted = `
    select count(*)::int as requests, count(*) filter (where r.state = 'PROVISIONING')::int as confirmed,
           (select count(*)::int from billing.payments where counts) as payments,
           (select count(*)::int from billing.subscriptions) as subscriptions,
           (select count(*)::int from provisioning.jobs) as jobs,
           (select count(*)::int from outbox.payloads where idempotency_key = 'dispatch') as dispatches,
           (select sum(amount)::int from billing.entries) as taken
      from capacity.requests r`;
    expect(await oneOf(m.superuser, counted)).toEqual({
      requests: payments,
      confirmed: payments,
      payments,
      subscriptions: payments,
      jobs: payments,
      dispatches: payments,
      taken: payments * 120_000,
    });
    expect(await rowsOf(m.superuser, "select from billing.refunds")).toEqual([]);
    expect(await m.problems()).toEqual([]);
  },
);
