/** The customer's link: setting the address that it goes to, sending it again, and making its token for a mail. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";
import { type MailLink, requireLinkOfMessage } from "../notify/sending.ts";
import { askingSchema, type Asking } from "./answer-schemas.ts";

/**
 * For the commercial owner's side and admins; until the reviews are done, also for the requester. While the customer's answer is awaited,
 * the link is mailed immediately, and the old one no longer works.
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

/** Sends the same link again, to the known address. Refused too soon after the last mail. */
export async function sendLink(db: Queryable, requestId: string, as: string): Promise<Asking | Refused> {
  return refusable(send(db, requestId, as));
}

async function send(db: Queryable, requestId: string, as: string): Promise<Asking> {
  const answer = await call(db, "public.send_confirmation_link", { p_request_id: requestId, p_actor_id: as });
  return askingSchema.parse(answer);
}

/**
 * The token of a confirmation link, made from its id for the mail that is being sent at this moment. The caller puts it
 * into that mail and nowhere else.
 */
export async function makeConfirmationToken(db: Queryable, tokenId: string, key?: SecretKey): Promise<string> {
  return await withSecretKey(db, key, () => call(db, "capacity.confirmation_token", { p_token_id: tokenId }));
}

/** The customer's link: in a mail about a request, and in a notification. */
export const confirmationLink: MailLink = {
  streams: ["capacity", "people"],
  async makeToken(db, tokenId, { stream, outboxId }, key) {
    if (stream === "people") await requireLinkOfMessage(db, outboxId, tokenId);
    return makeConfirmationToken(db, tokenId, key);
  },
};
