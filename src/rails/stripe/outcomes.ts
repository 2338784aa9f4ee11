/** The outcome of a failed call, the same for every operation. */
import type { LookupOutcome, RailOutcome } from "../../contract/rail.ts";
import { outcomeOfCode } from "../exchange-codes.ts";
import { reasonOf } from "../reason.ts";
import type { StripeFailure } from "./call.ts";
import { stripeCodes } from "./codes.ts";
import type { Compact } from "./shapes.ts";

export function outcomeOf(failure: StripeFailure): RailOutcome {
  return outcomeOfCode(stripeCodes[failure.code].outcome, failure.code, wording(failure), failure);
}

export function unavailable(failure: StripeFailure): LookupOutcome {
  const { code, afterMs } = failure;
  return { kind: "unavailable", code, reason: wording(failure), ...(afterMs === undefined ? {} : { afterMs }) };
}

/** Stripe did it, and this is the object; or its answer cannot be read, and the outcome is unknown. */
export function deliveredAs(object: Compact | undefined, code = "200"): RailOutcome {
  if (object === undefined) return outcomeOf(unreadable);
  return { kind: "delivered", code, reference: object.id, response: object };
}

export function foundAs(object: Compact): LookupOutcome {
  return { kind: "found", reference: object.id, response: object };
}

export const unreadable: StripeFailure = { kind: "failure", code: "bad_answer" };

function wording({ code, detail }: StripeFailure): string {
  const { meaning } = stripeCodes[code];
  return reasonOf(detail === undefined ? meaning : `${meaning} (${detail})`);
}
