/** `headroom notifications list`: notifications, newest first, with their outcome. */
import { type Command, Option } from "commander";
import {
  listNotifications,
  statuses,
  type ListedNotification,
  type NotificationStatus,
} from "../../../notify/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace } from "../../workspace.ts";

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
  readonly to?: string;
  readonly about?: string;
  readonly status?: NotificationStatus;
  readonly limit: number;
}

export function registerList(notifications: Command): void {
  addCommon(
    notifications
      .command("list")
      .description("list notifications, newest first, with their outcome")
      .option("--to <member>", "only to this member; for a customer, the id of their request")
      .option("--about <id>", "only about this, such as a request")
      .addOption(new Option("--status <status>", "only with this status, of the newest 10,000").choices(statuses))
      .addOption(new Option("--workspace <id>", "only of this workspace (default: all)").env("HEADROOM_WORKSPACE"))
      .option("--limit <rows>", "most rows, up to 10000", parseWhole(1, 10_000), 50),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  const { workspace: workspaceId, to: recipient, about, status, limit } = options;
  const { notifications } = await withDatabase(options, "notifications list", async (client) => {
    const listed = orFail(await listNotifications(client, { workspaceId, recipient, about, status, limit }));
    if (listed.notifications.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    return listed;
  });
  if (options.json === true) printJson({ notifications });
  else show(notifications, limit);
}

function show(notifications: readonly ListedNotification[], limit: number): void {
  if (notifications.length === 0) return printLine("No notifications match.");
  printTable(notifications, [
    { title: "NOTIFICATION", value: (row) => row.id },
    {
      title: "TO",
      value: (row) =>
        row.recipientKind === "member"
          ? row.recipient
          : row.recipientKind === "group"
            ? `group ${row.recipient}`
            : `customer of ${row.recipient}`,
    },
    { title: "STATUS", value: (row) => row.status },
    { title: "BY", value: (row) => row.channels.join(", ") },
    { title: "TITLE", value: (row) => row.title ?? "(erased)" },
    { title: "TOLD", value: (row) => row.createdAt },
    { title: "READ", value: (row) => row.readAt },
    { title: "WHY NOT", value: (row) => row.error },
    { title: "WORKSPACE", value: (row) => row.workspaceId },
  ]);
  if (notifications.length === limit) printLine(`\nThere may be more: --limit ${Math.min(limit * 2, 10_000)}`);
  const failed = notifications.find(({ status }) => status === "failed");
  if (failed !== undefined) printLine(`\nNext: headroom notifications show ${failed.id}`);
}
