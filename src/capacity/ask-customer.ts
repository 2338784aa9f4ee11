/** Having the customer asked who was not, or who lost the mail. */
import { askingSchema, type Asking } from "./answers.ts";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "./refusal.ts";

/**
 * For the commercial owner's side and admins; until the reviews are done, also for the requester. Where the customer is waited for, the
 * link is mailed at once, and the one before counts no more.
 */
export async function setAddress(
  db: Queryable,
  requestId: string,
  email: string,
  as: string,
): Promise<Asking | Refused> {
  return refusable(set(db, requestId, email, as));
}

async function set(db: Queryable, requestId: string, email: string, as: string): Promise<Asking> {
  const answer = await call(db, "public.set_customer_address", {
    p_request_id: requestId,
    p_email: email,
    p_actor_id: as,
  });
  return askingSchema.parse(answer);
}

/** The same link once more, to the address that is known. Too soon after the last mail it is refused. */
export async function sendLink(db: Queryable, requestId: string, as: string): Promise<Asking | Refused> {
  return refusable(send(db, requestId, as));
}

async function send(db: Queryable, requestId: string, as: string): Promise<Asking> {
  const answer = await call(db, "public.send_confirmation_link", { p_request_id: requestId, p_actor_id: as });
  return askingSchema.parse(answer);
}
