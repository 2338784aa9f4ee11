/** A call for a page was given up in doubt, and Stripe does not answer: the sweep keeps asking for as long as the page could be paid. */
import { expect, test } from "vitest";
import { oneOf, rowsOf } from "../../capacity/harness.ts";
import { startMoney } from "../harness.ts";

const m = await startMoney(18);

test("a page that may or may not exist is looked for less and less often, and not forever", async () => {
  const id = await m.offered();
  m.stripe.instead("checkout.create", () => ({ kind: "rejected", code: "card_gone", reason: "no" }));
  await m.begin(id);
  await m.deliver();
  await rowsOf(
    m.superuser,
    `update outbox.dead set uncertain = true
      where outbox_id in (select o.outbox_id from outbox.rows o join billing.checkouts c on c.id::text = o.instruction_id where c.request_id = $1)`,
    [id],
  );
  await rowsOf(m.superuser, "update billing.checkouts set state = 'asked' where request_id = $1", [id]);
  const next = `select extract(epoch from next_look_at - now())::float8 / 60 as minutes from billing.checkouts where request_id = $1`;
  const pauses: number[] = [];
  for (let looks = 0; looks < 60; looks += 1) {
    await m.look(id);
    pauses.push(Math.ceil((await oneOf<{ minutes: number }>(m.superuser, next, [id])).minutes));
  }
  expect([pauses[0], pauses.at(-1)]).toEqual([2, 360]);
  await rowsOf(
    m.superuser,
    "update billing.checkouts set expires_at = now() - interval '91 days' where request_id = $1",
    [id],
  );
  await m.look(id);
  expect((await oneOf<{ minutes: number }>(m.superuser, next, [id])).minutes).toBe(Infinity);
});
