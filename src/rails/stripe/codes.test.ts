import { Stripe } from "stripe";
import { describe, expect, test } from "vitest";
import { codeOfError, stripeCodes } from "./codes.ts";
import { stripeApiVersion } from "./config.ts";

const said = (status: number, facts: Parameters<typeof codeOfError>[2] = {}, replayed = false): string => {
  const code = codeOfError(status, replayed, facts);
  return `${stripeCodes[code].outcome} ${code}`;
};

describe("an error of Stripe's", () => {
  test.each([
    ["charge_already_refunded", "rejected nothing_left"],
    ["charge_disputed", "rejected disputed"],
    ["refund_disputed_payment", "rejected disputed"],
    ["balance_insufficient", "retry balance_insufficient"],
    ["amount_too_large", "rejected amount_refused"],
    ["resource_missing", "rejected http_404"],
    ["something_new", "rejected http_400"],
  ])("with the code %s is %s", (code, outcome) => {
    expect(said(400, { type: "invalid_request_error", code })).toBe(outcome);
  });

  test("about a key is told from one about the request", () => {
    expect(said(400, { type: "idempotency_error" })).toBe("rejected key_reused");
    expect(said(409, { type: "idempotency_error", code: "idempotency_key_in_use" })).toBe("unknown key_in_use");
    expect(said(409)).toBe("retry http_409");
    expect(said(429, { code: "lock_timeout" })).toBe("retry lock_timeout");
    expect(said(400, { param: "expires_at" })).toBe("rejected expiry_refused");
  });

  test("that is its own failure proves nothing, whatever code it bears, and is known when it is repeated", () => {
    expect(said(500, { code: "charge_already_refunded" })).toBe("unknown http_5xx");
    expect(said(503, {}, true)).toBe("unknown replayed_failure");
  });
});

test("the version of the API that is pinned is the one whose types we have", () => {
  expect(stripeApiVersion).toBe(Stripe.API_VERSION);
});
