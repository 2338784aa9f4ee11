/**
 * Erasing a customer: what we sent Stripe about them is removed; payments are kept, and still add up.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startMoney } from "./harness.ts";

describe.each(POSTGRES_VERSIONS)("erasing and money on PostgreSQL %i", async (version) => {
  const m = await startMoney(version);
  const customer = { org_id: `gone-${version}`, name: "Gone with the wind", email: "gone@initech.example" };

  test("the address disappears from the messages to Stripe; payments, refunds and the books stay and add up", async () => {
    const { id } = await m.bought({ customer });
    const [payment] = await m.payments(id);
    await rowsOf(m.superuser, "select public.refund_payment($1, 'Gone with the wind complained', 100, 'otto')", [
      payment!.id,
    ]);
    const { finding } = await oneOf<{ finding: string }>(
      m.superuser,
      `insert into billing.findings (kind, stripe_id, request_id, said, event_id) values ('books', $2, $1, 'Odd.', 'sweep')
       returning id as finding`,
      [id, payment!.id],
    );
    await rowsOf(m.superuser, "select billing.resolve_finding($1, 'otto', 'Gone with the wind called.')", [finding]);
    await m.deliver();
    const books = await m.books(id);
    await rowsOf(m.superuser, "select public.erase_customer($1, 'they asked', 'ada')", [id]);
    await m.deliver();
    await m.timers();

    const mention = `
      select 'outbox' as where, m.instruction_id as what from outbox.payloads m join outbox.streams s using (stream_id)
       where s.name <> 'capacity' and m.payload::text ~* 'gone@initech|Gone with the wind'
      union all select 'sightings', s.id::text from billing.sightings s where s.object::text ~* 'gone@initech|Gone with'
      union all select 'captures', c.name from outbox.captures c join outbox.lanes l using (lane_id)
                 where c.value::text ~ 'https?://|cus_'
      union all select 'sessions', s.session_id from billing.sessions s join billing.checkouts c on c.id = s.checkout_id
                 where c.request_id = $1 and s.url ~ 'http'
      union all select 'customers', c.stripe_id from billing.customers c where c.customer_key = capacity.customer_key_of($1)
      union all select 'findings', f.resolution from billing.findings f where f.resolution ~ 'Gone with'
      union all select 'hashes', c.id::text from billing.checkouts c where c.request_id = $1 and c.address_mark is not null`;
    expect(await rowsOf(m.superuser, mention, [id])).toEqual([]);
    expect(await m.books(id)).toEqual(books);
    expect(await m.payments(id)).toHaveLength(1);
    expect(await m.problems()).toEqual([]);
    const why =
      "select billing.payment_json(p) #> '{refunds,0,why}' as why from billing.payments p where p.request_id = $1";
    expect(await oneOf(m.superuser, why, [id])).toEqual({ why: "(erased)" });
  });

  test("an erased customer's money is tracked as before", async () => {
    const { id, session } = await m.bought({ customer: { ...customer, org_id: `later-${version}` } });
    await rowsOf(m.superuser, "select public.erase_customer($1, 'they asked', 'ada')", [id]);
    await m.tells("refund.created", {
      object: "refund",
      id: m.stripe.nextId("re"),
      status: "succeeded",
      amount: 120_000,
      currency: "usd",
      payment_intent: session["payment_intent"],
    });
    expect(await m.refunds(id)).toEqual(["outside outside 120000 succeeded"]);
    expect(await m.problems()).toEqual([]);
  });
});
