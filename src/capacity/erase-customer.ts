/** Erasing all data about the customer of a request. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { erasureSchema, type Erasure } from "./request.ts";

/** What was erased so far. */
export interface Erased {
  readonly outcome: "erased";
  readonly erasure: Erasure;
}

/**
 * For an admin of the workspace; it cannot be undone. Messages that are on their way are left to arrive, and the sweep then erases
 * them. A repeat erases what was added since, and reports the progress.
 */
export async function eraseCustomer(
  db: Queryable,
  requestId: string,
  why: string,
  as: string,
): Promise<Erased | Refused> {
  return refusable(erase(db, requestId, why, as));
}

async function erase(db: Queryable, requestId: string, why: string, as: string): Promise<Erased> {
  const answer = await call(db, "public.erase_customer", { p_request_id: requestId, p_why: why, p_actor_id: as });
  return { outcome: "erased", erasure: erasureSchema.parse(answer) };
}
