/** The outcome of a failed call, the same for every operation. */
import type { LookupOutcome, RailOutcome } from "../../contract/rail.ts";
import { outcomeOfCode } from "../exchange-codes.ts";
import { reasonOf } from "../reason.ts";
import type { GithubFailure } from "./call.ts";
import { githubActionsCodes } from "./codes.ts";

export function outcomeOf(failure: GithubFailure): RailOutcome {
  return outcomeOfCode(githubActionsCodes[failure.code].outcome, failure.code, wording(failure), failure);
}

export function unavailable(failure: GithubFailure): LookupOutcome {
  const { code, afterMs } = failure;
  return { kind: "unavailable", code, reason: wording(failure), ...(afterMs === undefined ? {} : { afterMs }) };
}

function wording({ code, detail }: GithubFailure): string {
  const { meaning } = githubActionsCodes[code];
  return reasonOf(detail === undefined ? meaning : `${meaning} (${detail})`);
}
