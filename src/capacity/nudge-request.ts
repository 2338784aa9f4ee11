/** Reminding those whom a request waits for. */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "./refusal.ts";
import { personSchema } from "./request.ts";

const nudgeSchema = z
  .object({
    request_id: z.string(),
    notice_id: z.number(),
    next_nudge_at: z.coerce.date(),
    effects: z.array(z.string()),
    asked: z.array(personSchema),
  })
  .transform((answer) => ({
    outcome: "nudged" as const,
    requestId: answer.request_id,
    noticeId: answer.notice_id,
    nextNudgeAt: answer.next_nudge_at,
    effects: answer.effects,
    asked: answer.asked,
  }));
/** Whom the nudge asks, through what, and when another one may follow. */
export type Nudged = z.infer<typeof nudgeSchema>;

/** For the requester, or an admin. Too soon after the last one it is refused. */
export async function nudgeRequest(db: Queryable, requestId: string, as: string): Promise<Nudged | Refused> {
  return refusable(nudge(db, requestId, as));
}

async function nudge(db: Queryable, requestId: string, as: string): Promise<Nudged> {
  const answer = await call(db, "public.nudge_capacity_request", { p_request_id: requestId, p_actor_id: as });
  return nudgeSchema.parse(answer);
}
