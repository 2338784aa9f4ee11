/** One request with everything that belongs to it. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { storySchema, type RequestStory } from "./request.ts";

export type Found = { readonly outcome: "found"; readonly story: RequestStory };

export async function getRequest(db: Queryable, requestId: string): Promise<Found | Refused> {
  return refusable(get(db, requestId));
}

async function get(db: Queryable, requestId: string): Promise<Found> {
  const answer = await call(db, "public.get_capacity_request", { p_request_id: requestId });
  return { outcome: "found", story: storySchema.parse(answer) };
}
