/** Telling a member something, once per key. */
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface NewNotification {
  readonly workspaceId: string;
  /** The member, by id, by Slack id, or by the id of their account. */
  readonly member: string;
  /** The idempotency key, 1 to 512 characters: a second call with it for the same person is the same notification. */
  readonly key: string;
  /** One line of 1 to 200 characters. */
  readonly title: string;
  /** 1 to 20,000 characters. */
  readonly body: string;
  readonly actionUrl?: string | undefined;
  /** Some of `channels`, or `direct`: Slack if it knows the member, otherwise mail. Default: in-app. */
  readonly channels?: readonly string[] | undefined;
  /** 0 to 9, higher first. Default: 5. */
  readonly priority?: number | undefined;
  /** Not sent after this. Default: in 30 days. */
  readonly expiresAt?: Date | undefined;
}

export type Told = { readonly outcome: "told"; readonly id: string };

/** In the caller's transaction: a rollback undoes it. */
export async function notify(db: Queryable, input: NewNotification): Promise<Told | Refused> {
  return refusable(tell(db, input));
}

async function tell(db: Queryable, input: NewNotification): Promise<Told> {
  const id = await call(db, "public.notify", {
    p_workspace_id: input.workspaceId,
    p_user_id: input.member,
    p_idempotency_key: input.key,
    p_title: input.title,
    p_body: input.body,
    p_action_url: input.actionUrl,
    p_channels: input.channels,
    p_priority: input.priority,
    p_expires_at: input.expiresAt,
  });
  return { outcome: "told", id };
}
