import { describe, expect, test } from "vitest";
import { railConformance } from "../../../../src/contract/conformance/suite.ts";
import { validatePayment } from "../../../../src/contract/payment.ts";
import { openProvider } from "../harness.ts";
import { cancelPlan, createPlan, expirePlan, listPlan, lookPlan, refundPlan } from "./stripe-plans.ts";

const doing = {
  "making a session": () => createPlan,
  "ending a session": expirePlan,
  "refunding a payment": refundPlan,
  "cancelling a subscription": cancelPlan,
} as const;

for (const [what, plan] of Object.entries(doing)) {
  railConformance(`stripe, ${what},`, { capability: "lookup", open: () => openProvider(plan()) }, { describe, test });
}

for (const [what, plan] of Object.entries({ "looking at one": lookPlan, listing: listPlan })) {
  railConformance(
    `stripe, ${what},`,
    {
      capability: "lookup",
      open: () => openProvider(plan()),
      notApplicable: {
        drop_after_accept: "a question may be asked again, so that a lookup need not find it",
        unreachable: "and asks nobody",
      },
    },
    { describe, test },
  );
}

test("a refund's payload keeps the rules of payloads that move money, and no other Stripe payload does", () => {
  const refund = { ...Object(refundPlan().payload()), destination: "pi_1" };
  expect(validatePayment(refund, "stripe")).toEqual({ ok: true });
  expect(validatePayment({ ...refund, destination: "cus_1" }, "stripe")).toMatchObject({ ok: false });
  expect(validatePayment(createPlan.payload(), "stripe")).toMatchObject({ ok: false });
});
