/** A notification as the database shows it, checked once. */
import { z } from "zod";
import { channels, channelTable } from "./channels.gen.ts";

export { channels };
/** Those that people choose for each category. */
export const chosenChannels = channelTable.filter(({ chosen }) => chosen);
/** Those by which something is sent, and can be sent again. */
export const sentChannels = channelTable.filter(({ leaves }) => leaves);
export type Channel = (typeof channels)[number];

export const statuses = ["pending", "sent", "delivered", "failed"] as const;
export type NotificationStatus = (typeof statuses)[number];

const moment = z.coerce.date();

const partSchema = z
  .object({
    channel: z.enum(channels),
    /** To which endpoint, where the channel is `webhook`. */
    endpoint: z.string().nullable(),
    stage: z.string(),
    status: z.enum(statuses),
    meaning: z.string(),
    tries: z.number(),
    at: moment.nullable(),
    said: z.string().nullable(),
    due_at: moment,
    delivery_id: z.string().nullable(),
    outbox_id: z.string().nullable(),
  })
  .transform(({ due_at: dueAt, delivery_id: deliveryId, outbox_id: outboxId, ...part }) => ({
    ...part,
    dueAt,
    deliveryId,
    outboxId,
  }));

/** Its progress by one channel. `stage` says how far it came, `meaning` the same in words. */
export type NotificationPart = z.infer<typeof partSchema>;

export const notificationSchema = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    recipient_kind: z.enum(["member", "customer", "group"]),
    recipient: z.string(),
    idempotency_key: z.string(),
    category: z.string(),
    cause: z.string().nullable(),
    about: z.string().nullable(),
    title: z.string().nullable(),
    body: z.string().nullable(),
    action_url: z.string().nullable(),
    priority: z.number(),
    critical: z.boolean(),
    status: z.enum(statuses),
    created_at: moment,
    expires_at: moment,
    read_at: moment.nullable(),
    erased_at: moment.nullable(),
    parts: z.array(partSchema),
  })
  .transform((row) => ({
    id: row.id,
    workspaceId: row.workspace_id,
    recipientKind: row.recipient_kind,
    recipient: row.recipient,
    key: row.idempotency_key,
    category: row.category,
    cause: row.cause,
    about: row.about,
    title: row.title,
    body: row.body,
    actionUrl: row.action_url,
    priority: row.priority,
    critical: row.critical,
    status: row.status,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    readAt: row.read_at,
    erasedAt: row.erased_at,
    parts: row.parts,
  }));

/** Title and body are null once they were erased. */
export type Notification = z.infer<typeof notificationSchema>;
