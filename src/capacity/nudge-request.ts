/** Reminding those whom a request waits for, and adding notes: neither decides anything. */
import { noteSchema, nudgeSchema, type Noted, type Nudged } from "./answer-schemas.ts";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

/** For the requester or an admin. Refused too soon after the last one. */
export async function nudgeRequest(db: Queryable, requestId: string, as: string): Promise<Nudged | Refused> {
  return refusable(nudge(db, requestId, as));
}

async function nudge(db: Queryable, requestId: string, as: string): Promise<Nudged> {
  const answer = await call(db, "public.nudge_capacity_request", { p_request_id: requestId, p_actor_id: as });
  return nudgeSchema.parse(answer);
}

/** For everybody who may read the request. */
export async function noteRequest(
  db: Queryable,
  requestId: string,
  body: string,
  as: string,
): Promise<Noted | Refused> {
  return refusable(note(db, requestId, body, as));
}

async function note(db: Queryable, requestId: string, body: string, as: string): Promise<Noted> {
  const answer = await call(db, "public.note_capacity_request", {
    p_request_id: requestId,
    p_body: body,
    p_actor_id: as,
  });
  return noteSchema.parse(answer);
}
