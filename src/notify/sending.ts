/**
 * What relays ask the database for while they send messages to people: the token of a link in a mail, and the address of a person's own
 * webhook. Each is made or opened for one message at the moment of sending, and stored nowhere.
 */
import type { RailMessage } from "../contract/rail.ts";
import { call, type Queryable } from "../db/call.ts";
import { HeadroomError } from "../db/errors.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";

/** A kind of link that mails have. */
export interface MailLink {
  /** Whose mails may have it: an application that knows an id must not be able to mail itself the link. */
  readonly streams: readonly string[];
  /** The token of the link with this id, for this mail. */
  readonly makeToken: (db: Queryable, id: string, mail: RailMessage, key: SecretKey | undefined) => Promise<string>;
}

/** The link that stops mails. The database makes it only for its own messages. */
export const unsubscribeLink: MailLink = {
  streams: ["people"],
  makeToken: (db, notificationId, { outboxId }, key) => makeUnsubscribeToken(db, { notificationId, outboxId }, key),
};

export async function makeUnsubscribeToken(
  db: Queryable,
  { notificationId, outboxId }: { readonly notificationId: string; readonly outboxId: string },
  key?: SecretKey,
): Promise<string> {
  return await withSecretKey(db, key, () =>
    call(db, "notify.unsubscribe_token", { p_notification_id: notificationId, p_outbox_id: outboxId }),
  );
}

/** Applications may write to the stream of notifications too, and must not be able to mail themselves a link. */
export async function requireLinkOfMessage(db: Queryable, outboxId: string, linkId: string): Promise<void> {
  if (!(await call(db, "notify.carries_link", { p_outbox_id: outboxId, p_link_id: linkId }))) throw noSuchLink();
}

export function noSuchLink(): HeadroomError {
  return new HeadroomError("not_found", "Links are made only for our own mails.");
}

export async function slackWebhookOf(db: Queryable, outboxId: string, key?: SecretKey): Promise<string> {
  return await withSecretKey(db, key, () => call(db, "notify.slack_webhook_for_relay", { p_outbox_id: outboxId }));
}
