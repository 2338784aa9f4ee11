import { expect, test } from "vitest";
import type { Refund } from "../../billing/index.ts";
import { nextForPayment, whyRefundHeld } from "./money-words.ts";

const at = (second: number): Date => new Date(second * 1000);

function refund(id: string, state: Refund["state"], changes: Partial<Refund> = {}): Refund {
  const made: Refund = {
    id,
    origin: "ours",
    reason: "person",
    amount: 100,
    state,
    heldBy: null,
    stripeId: null,
    askedBy: "otto",
    why: null,
    failure: null,
    createdAt: at(1),
    updatedAt: at(2),
  };
  return { ...made, ...changes };
}

const next = (...refunds: Refund[]): string | null => nextForPayment({ id: "p", status: "paid", left: 100, refunds });

test("a refund that did not go back is a person's, unless one was opened since: those before it are not in its place", () => {
  const failed = refund("a", "failed", { updatedAt: at(5) });
  expect(next(failed, refund("b", "succeeded", { createdAt: at(3) }))).toMatch(/^headroom payments refund p /);
  expect(next(failed, refund("b", "succeeded", { createdAt: at(5) }))).toBeNull();
  expect(next(refund("a", "cancelled"))).toMatch(/^headroom payments refund p /);
  expect(next(refund("a", "superseded", { failure: "card_gone" }))).toMatch(/^headroom payments refund p /);
  expect(next(refund("a", "superseded"))).toBeNull();
});

test("of several that are held, the one that waits for a person is told", () => {
  const queued = refund("a", "held", { heldBy: "refund" });
  expect(whyRefundHeld({ refunds: [queued] })).toMatch(/^A refund waits for another of the same payment/);
  const forPeople = refund("b", "held", { heldBy: "person" });
  expect(whyRefundHeld({ refunds: [queued, forPeople] })).toMatch(/a person decides/);
  expect(next(queued)).toBeNull();
  // A person's refund would be refused while another waits for its turn.
  expect(next(queued, forPeople)).toBeNull();
  expect(next(forPeople)).toMatch(/^headroom payments refund p /);
});
