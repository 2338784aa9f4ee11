/** A refusal of the workflow ends a command like any other failure: message, hint, exit code 1. */
import { toError, type Refused } from "../capacity/index.ts";

/** The answer, unless it is a refusal, which is thrown. */
export function orFail<T extends { readonly outcome: string }>(answer: T | Refused): T {
  if (isRefused(answer)) throw toError(answer);
  return answer;
}

function isRefused(answer: { readonly outcome: string }): answer is Refused {
  return answer.outcome === "refused";
}
