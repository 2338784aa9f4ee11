/** One notification in words: what it says, how it went by each channel, and what to do next. */
import type { Notification } from "../../../notify/index.ts";
import { printFacts, printLine, printTable } from "../../output.ts";

export function printNotification(notification: Notification): void {
  const { recipientKind, recipient, parts } = notification;
  printFacts([
    ["notification", notification.id],
    [
      "to",
      { member: recipient, customer: `the customer of ${recipient}`, group: `the group ${recipient}` }[recipientKind],
    ],
    ["workspace", notification.workspaceId],
    ["status", notification.status],
    ["title", notification.title ?? "(erased)"],
    ["body", notification.body],
    ["where to look", notification.actionUrl],
    ["about", notification.about],
    [
      "category",
      notification.critical ? `${notification.category} (critical: it waits for nothing)` : notification.category,
    ],
    ["priority", String(notification.priority)],
    ["key", notification.key],
    ["told", notification.createdAt.toISOString()],
    ["expires", notification.expiresAt.toISOString()],
    ["read", notification.readAt?.toISOString() ?? null],
    ["erased", notification.erasedAt?.toISOString() ?? null],
  ]);
  printLine();
  printTable(parts, [
    { title: "BY", value: ({ channel, endpoint }) => (endpoint === null ? channel : `${channel} (${endpoint})`) },
    { title: "STATUS", value: (part) => part.status },
    { title: "BECAUSE", value: (part) => part.meaning },
    { title: "TRIES", value: (part) => part.tries, align: "right" },
    { title: "AT", value: (part) => (part.stage === "held" ? part.dueAt : part.at) },
    { title: "SAID", value: (part) => part.said },
    { title: "OUTBOX ROW", value: (part) => part.outboxId },
  ]);
  const next = nextFor(notification);
  if (next !== undefined) printLine(`\nNext: ${next}`);
}

/** For the first problem that somebody can solve. */
function nextFor({ id, recipient, recipientKind, workspaceId, parts }: Notification): string | undefined {
  const stages = new Map(parts.map((part) => [part.stage, part]));
  if (stages.has("suppressed") || stages.has("bounced") || stages.has("complained"))
    return `headroom notifications lift <address> --workspace ${workspaceId}, if the address works; then headroom notifications resend ${id}`;
  if (stages.get("no_address")?.channel === "webhook")
    return `headroom endpoint add <name> --url <address> --topic headroom.notification --workspace ${workspaceId}; then headroom notifications resend ${id}`;
  if (stages.has("no_address") && recipientKind === "group")
    return `headroom members put-group ${recipient} --slack-channel <id> --workspace ${workspaceId}; then headroom notifications resend ${id}`;
  if (stages.has("no_address"))
    return `headroom members put ${recipient} --email <address> --workspace ${workspaceId}; then headroom notifications resend ${id}`;
  const row = (stages.get("given_up") ?? stages.get("uncertain"))?.outboxId;
  return typeof row === "string" ? `headroom outbox inspect ${row}` : undefined;
}
