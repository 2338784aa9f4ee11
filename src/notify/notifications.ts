/** The outcome of notifications, and sending one again. */
import { call, type FunctionResult, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { notificationSchema, type Notification, type NotificationStatus } from "./notification.ts";

export interface ListNotificationsOptions {
  /** Default: all. */
  readonly workspaceId?: string | undefined;
  /** A member's id; for a customer, the id of the request or other thing that they are asked about. */
  readonly recipient?: string | undefined;
  /** Of the newest ten thousand. */
  readonly status?: NotificationStatus | undefined;
  /** What they are about, such as a request. */
  readonly about?: string | undefined;
  /** Default: 50. At most 10,000. */
  readonly limit?: number | undefined;
}

export interface ListedNotification {
  readonly id: string;
  readonly workspaceId: string;
  readonly recipientKind: string;
  readonly recipient: string;
  readonly category: string;
  /** Null once it was erased. */
  readonly title: string | null;
  readonly channels: readonly string[];
  readonly priority: number;
  readonly status: string;
  /** Why it failed, by channel. */
  readonly error: string | null;
  readonly createdAt: Date;
  readonly readAt: Date | null;
}

export type ListedNotifications = {
  readonly outcome: "listed";
  readonly notifications: readonly ListedNotification[];
};

/** Newest first. */
export async function listNotifications(
  db: Queryable,
  options: ListNotificationsOptions = {},
): Promise<ListedNotifications | Refused> {
  return refusable(list(db, options));
}

async function list(db: Queryable, options: ListNotificationsOptions): Promise<ListedNotifications> {
  const rows = await call(db, "notify.list_notifications", {
    p_workspace_id: options.workspaceId,
    p_recipient: options.recipient,
    p_status: options.status,
    p_about: options.about,
    p_limit: options.limit,
  });
  return { outcome: "listed", notifications: rows.map(toListed) };
}

function toListed(row: FunctionResult<"notify.list_notifications">[number]): ListedNotification {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    recipientKind: row.recipient_kind,
    recipient: row.recipient,
    category: row.category,
    title: row.title,
    channels: row.channels,
    priority: row.priority,
    status: row.status,
    error: row.error,
    createdAt: row.created_at,
    readAt: row.read_at,
  };
}

export type FoundNotification = { readonly outcome: "found"; readonly notification: Notification };

/** With its progress by each of its channels. */
export async function getNotification(db: Queryable, id: string): Promise<FoundNotification | Refused> {
  return refusable(found(call(db, "notify.get_notification", { p_id: id })));
}

export interface ResendInput {
  /** Any except the inbox, also one that it did not go by at first. Default: every channel by which it failed. */
  readonly channel?: string | undefined;
  readonly actor: string;
}

/** Sends it again. A notification that is still under way is refused, so that nobody gets it twice. */
export async function resend(
  db: Queryable,
  id: string,
  { channel, actor }: ResendInput,
): Promise<FoundNotification | Refused> {
  return refusable(found(call(db, "notify.resend", { p_id: id, p_channel: channel ?? null, p_actor: actor })));
}

async function found(answer: Promise<unknown>): Promise<FoundNotification> {
  return { outcome: "found", notification: notificationSchema.parse(await answer) };
}
