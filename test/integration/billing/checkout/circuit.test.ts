/** A failure of our Stripe account keeps no customer from paying: such answers are about us, and do not mean that Stripe is unreachable. */
import { expect, test } from "vitest";
import { stripeCodes } from "../../../../src/rails/stripe/codes.ts";
import { rowsOf } from "../../capacity/harness.ts";
import { until } from "../../outbox/relay/stage.ts";
import { startMoney } from "../harness.ts";

const m = await startMoney(18);
/** Enough failures to open the circuit. */
const many = 12;

function refuse(operation: string, code: "balance_insufficient" | "may_not_list", kind?: string): void {
  const { outcome, meaning } = stripeCodes[code];
  for (let count = 0; count < many; count += 1) {
    m.stripe.instead(operation, (payload) =>
      kind === undefined || payload["kind"] === kind ? { kind: outcome, code, reason: meaning } : undefined,
    );
  }
}

async function untilTried(code: string, times: number): Promise<void> {
  await until(
    () => rowsOf(m.superuser, "select from outbox.attempts where rail_code = $1", [code]),
    (tries) => tries.length >= times,
    `${times} answers ${code}`,
  );
}

test("an empty balance, which only payments can fill again", async () => {
  const ids: string[] = [];
  for (let count = 0; count < 6; count += 1) ids.push((await m.bought({ quantity: 1 })).id);
  refuse("refund", "balance_insufficient");
  for (const id of ids) await m.apply(id, "CANCEL_APPROVED", "rita");
  await untilTried("balance_insufficient", 6);
  const { session } = await m.opened({ quantity: 1 });
  expect(session["status"]).toBe("open");
});

test("a permission that only comparisons need: the comparison reads the other lists, and the next one starts over", async () => {
  for (let day = 1; day <= 6; day += 1) {
    refuse("list", "may_not_list", "changes");
    await rowsOf(m.superuser, "select billing.reconcile_payments('otto')");
    for (let turn = 0; turn < 5; turn += 1) await m.deliver();
    await untilTried("may_not_list", day);
  }
  expect(
    await rowsOf(
      m.superuser,
      "select distinct cursor, finished_at from billing.reconciliations where asked_by = 'otto'",
    ),
  ).toEqual([{ cursor: "changes:", finished_at: null }]);
  const { session } = await m.opened({ quantity: 1 });
  expect(session["status"]).toBe("open");
});
