/** What a member can do with requests now, before they try. */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { verdictSchema, type RequestAction, type Verdict } from "./answer-schemas.ts";

export interface Judged {
  readonly outcome: "judged";
  readonly verdicts: readonly Verdict[];
}

/** At most a hundred requests at a time; without `actions`, all that exist on each. */
export async function judgeRequests(
  db: Queryable,
  requestIds: readonly string[],
  { as, actions }: { readonly as?: string | undefined; readonly actions?: readonly RequestAction[] | undefined } = {},
): Promise<Judged | Refused> {
  return refusable(judge(db, { p_request_ids: requestIds, p_actions: actions ?? null, p_actor_id: as ?? null }));
}

async function judge(db: Queryable, args: Parameters<typeof call<"public.capacity_verdicts">>[2]): Promise<Judged> {
  return {
    outcome: "judged",
    verdicts: z.array(verdictSchema).parse(await call(db, "public.capacity_verdicts", args)),
  };
}
