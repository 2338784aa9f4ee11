/** `headroom notifications show`: one notification, and how it went by each of its channels. */
import type { Command } from "commander";
import { getNotification } from "../../../notify/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { parseNotificationId } from "./notification-id.ts";
import { printNotification } from "./words.ts";

export function registerShow(notifications: Command): void {
  addCommon(
    notifications
      .command("show")
      .description("show a notification: what it says, and how it went by each of its channels")
      .argument("<notification>", "its id", parseNotificationId),
  ).action(runShow);
}

async function runShow(id: string, options: CommonOptions): Promise<void> {
  const { notification } = orFail(
    await withDatabase(options, "notifications show", (client) => getNotification(client, id)),
  );
  if (options.json === true) printJson(notification);
  else printNotification(notification);
}
