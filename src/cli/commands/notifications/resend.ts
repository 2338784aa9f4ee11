/** `headroom notifications resend`: sends a notification again, where it failed or by another channel. */
import { type Command, Option } from "commander";
import { resend } from "../../../notify/index.ts";
import { sentChannels } from "../../../notify/notification.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { parseNotificationId } from "./notification-id.ts";
import { printNotification } from "./words.ts";

interface ResendOptions extends CommonOptions, ActorOption {
  readonly channel?: string;
}

export function registerResend(notifications: Command): void {
  addCommon(
    notifications
      .command("resend")
      .description("send a notification again by the channels where it failed, or by the one that is named")
      .argument("<notification>", "its id", parseNotificationId)
      .addOption(
        new Option(
          "--channel <channel>",
          "by this one, even if it had arrived there or was not to be sent there",
        ).choices(sentChannels.map(({ channel }) => channel)),
      )
      .addOption(actorOption()),
  ).action(runResend);
}

async function runResend(id: string, options: ResendOptions): Promise<void> {
  const { channel, actor } = options;
  const { notification } = orFail(
    await withDatabase(options, "notifications resend", (client) => resend(client, id, { channel, actor })),
  );
  if (options.json === true) printJson(notification);
  else printNotification(notification);
}
