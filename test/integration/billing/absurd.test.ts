/**
 * Absurd objects from Stripe stop neither the webhooks, nor a sweep, nor a comparison. What cannot be read is set aside and listed as a
 * finding.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/contract/rail.ts";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startMoney, type Money } from "./harness.ts";
import type { Thing } from "./stand-in.ts";

const seed = Number(process.env["SEED"] ?? 28);

async function compare(m: Money): Promise<{ cursor: string | null; finished_at: Date | null; seen: number }> {
  const { id } = await oneOf<{ id: string }>(m.superuser, "select billing.reconcile_payments('otto') as id");
  for (let turn = 0; turn < 6; turn += 1) await m.deliver();
  return oneOf(m.superuser, "select cursor, finished_at, seen from billing.reconciliations where id = $1", [id]);
}

/** Numbers, words and shapes that no object of Stripe's should have. */
const odd = fc.oneof(
  fc.constantFrom<Json>(
    0,
    -1,
    1,
    0.5,
    1e15,
    1e21,
    99_999_999_999,
    253_402_300_800,
    4_102_444_801,
    -62_135_596_800,
    "",
    "0",
    "open",
    "paid",
    "USD",
    "€",
    "x".repeat(300),
    "cs_",
    "NaN",
    "infinity",
    "2026-11-19",
    null,
    true,
    false,
    [],
    {},
    [null],
    [[]],
    { id: 7 },
    { id: "x".repeat(300) },
    { data: [{ period: { end: 0 } }] },
  ),
  fc.integer(),
  fc.string({ maxLength: 30 }).filter((text) => !text.includes("\0")),
);

const idOf = (field: Json | undefined): string | null => (typeof field === "string" ? field : null);

function ofRequest(m: Money, session: Thing): Thing[] {
  const metadata = session["metadata"] ?? {};
  const subscription = idOf(session["subscription"]);
  const intent = idOf(session["payment_intent"]);
  const common = { created: Math.floor(Date.now() / 1000), metadata, currency: "usd" };
  return [
    session,
    {
      object: "refund",
      id: m.stripe.nextId("re"),
      status: "succeeded",
      amount: 100,
      payment_intent: intent,
      ...common,
    },
    {
      object: "dispute",
      id: m.stripe.nextId("dp"),
      status: "needs_response",
      amount: 100,
      payment_intent: intent,
      ...common,
    },
    { object: "payment_intent", id: intent ?? "pi_none", status: "succeeded", ...common },
    {
      object: "subscription",
      id: subscription ?? "sub_none",
      status: "active",
      current_period_end: common.created,
      ...common,
    },
    {
      object: "invoice",
      id: m.stripe.nextId("in"),
      status: "paid",
      amount_paid: 10_000,
      billing_reason: "subscription_cycle",
      subscription,
      period_end: common.created,
      ...common,
    },
  ];
}

describe.each(POSTGRES_VERSIONS)("absurd objects from Stripe on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);

  test("a dispute opened at the beginning of time, or after its end, does not stop a comparison", async () => {
    for (const created of [0, -5, 99_999_999_999]) {
      const { session } = await m.bought();
      const dispute = {
        object: "dispute",
        id: m.stripe.nextId("dp"),
        status: "needs_response",
        amount: 120_000,
        currency: "usd",
        payment_intent: session["payment_intent"] ?? null,
        created,
      };
      await m.tells("charge.dispute.created", dispute);
    }
    const opened =
      "select bool_and(opened_at between now() - interval '1 day' and now() + interval '1 day') as sane from billing.disputes";
    expect(await oneOf(m.superuser, opened)).toEqual({ sane: true });
    // An earlier version may have stored this.
    await rowsOf(m.superuser, "update billing.disputes set opened_at = to_timestamp(0)");
    expect(await compare(m)).toMatchObject({ cursor: null, finished_at: expect.any(Date) });
    const asked = m.stripe.asked("list").filter(({ kind }) => kind === "disputes");
    expect(asked.every(({ since }) => Number(since) > Date.now() / 1000 - 401 * 86_400)).toBe(true);
    await rowsOf(m.superuser, "update billing.disputes set outcome = 'won'");
  });

  test("an unreadable object on a page of a comparison becomes a finding, and the rest is read", async () => {
    const { id, session } = await m.opened();
    m.stripe.lists.set("sessions", [m.paid(session)]);
    m.stripe.instead("list", () => ({
      kind: "delivered",
      response: { objects: [m.stripe.things.get(session.id) ?? null], cursor: null, unread: ["cs_odd"] },
    }));
    expect(await compare(m)).toMatchObject({ cursor: null });
    expect(await m.state(id)).toBe("PROVISIONING");
    const found = "select kind, request_id from billing.findings where stripe_id = 'cs_odd'";
    expect(await rowsOf(m.superuser, found)).toEqual([{ kind: "unknown_payment", request_id: null }]);
    m.stripe.lists.clear();
  });

  test("what the sweep could not read for a day is set aside, and people are told", async () => {
    const { id } = await m.bought();
    await rowsOf(
      m.superuser,
      `create function billing.fail_on_purpose() returns trigger language plpgsql as $$ begin raise 'on purpose'; end $$;
       create trigger fail_on_purpose before insert on billing.disputes for each row when (new.amount = 4711)
         execute function billing.fail_on_purpose()`,
    );
    const { intent } = await oneOf<{ intent: string }>(
      m.superuser,
      "select payment_intent as intent from billing.payments where request_id = $1",
      [id],
    );
    await rowsOf(
      m.superuser,
      "insert into billing.sightings (outbox_key, object, seen_at) values ('found:test', $1, now() - interval '25 hours')",
      [
        JSON.stringify({
          object: "dispute",
          id: "dp_odd",
          status: "needs_response",
          amount: 4711,
          currency: "usd",
          payment_intent: intent,
        }),
      ],
    );
    await rowsOf(m.superuser, "select public.run_capacity_request_timers()");
    await rowsOf(
      m.superuser,
      "drop trigger fail_on_purpose on billing.disputes; drop function billing.fail_on_purpose()",
    );
    expect(await rowsOf(m.superuser, "select 1 from billing.sightings where outbox_key = 'found:test'")).toEqual([]);
    expect((await m.said(id)).at(-1)).toContain("cannot be read here");
    const found = "select kind, request_id from billing.findings where stripe_id = 'dp_odd'";
    expect(await rowsOf(m.superuser, found)).toEqual([{ kind: "unknown_dispute", request_id: id }]);
  });

  test("any field of any object may be absurd", async () => {
    const scenes = [await m.bought(), await m.opened(), await m.bought({ size: "MONTHLY" })];
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 2 }),
        fc.nat({ max: 5 }),
        fc.array(fc.tuple(fc.nat({ max: 30 }), odd), { minLength: 1, maxLength: 3 }),
        async (scene, kind, changes) => {
          const things = ofRequest(m, scenes[scene]!.session);
          const thing: Record<string, Json> = { ...things[kind]! };
          for (const [at, value] of changes) {
            const names = Object.keys(thing).filter((name) => name !== "object" && name !== "id");
            thing[names[at % names.length]!] = value;
          }
          await rowsOf(
            m.superuser,
            "insert into billing.sightings (outbox_key, object) values ('found:' || gen_random_uuid(), $1)",
            [JSON.stringify(thing)],
          );
          await m.timers();
        },
      ),
      { seed, numRuns: 250 },
    );
    expect(await rowsOf(m.superuser, "select object from billing.sightings where next_read_at > now()")).toEqual([]);
    expect(await m.problems()).toEqual(expect.any(Array));
  });
});
