/**
 * What relays ask of the database for messages to people: the token of the link that stops mails, and the address of somebody's own webhook.
 * Both are made or opened for one message at the moment of sending, and kept nowhere.
 */
import type { ClientBase, Pool } from "pg";
import { call } from "../../db/call.ts";
import { HeadroomError } from "../../db/errors.ts";
import { withSecretKey, type SecretKey } from "../../db/secrets/secret-key.ts";

export async function makeUnsubscribeToken(
  client: ClientBase,
  { notificationId, outboxId }: { readonly notificationId: string; readonly outboxId: string },
  key?: SecretKey,
): Promise<string> {
  return await withSecretKey(client, key, () =>
    call(client, "notify.unsubscribe_token", { p_notification_id: notificationId, p_outbox_id: outboxId }),
  );
}

/** Applications may write to the stream of notifications too, and must not have a link sent to themselves. */
export async function requireLinkOfMessage(client: ClientBase, outboxId: string, linkId: string): Promise<void> {
  if (await call(client, "notify.carries_link", { p_outbox_id: outboxId, p_link_id: linkId })) return;
  throw new HeadroomError("not_found", "A link is made for our own mails alone.");
}

export async function slackWebhookOf(pool: Pool, outboxId: string, key?: SecretKey): Promise<string> {
  const client = await pool.connect();
  let failed = true;
  try {
    const address = await withSecretKey(client, key, () =>
      call(client, "notify.slack_webhook_for_relay", { p_outbox_id: outboxId }),
    );
    failed = false;
    return address;
  } finally {
    // A connection in doubt is not handed to the next one.
    client.release(failed);
  }
}
