/** `headroom notifications …`: what people were told and how it went, how they want to be told, the texts of messages, and who may send them. */
import type { Command } from "commander";
import { registerList } from "./list.ts";
import { registerPreferences } from "./preferences.ts";
import { registerProducers } from "./producers.ts";
import { registerResend } from "./resend.ts";
import { registerShow } from "./show.ts";
import { registerSlackWebhook } from "./slack-webhook.ts";
import { registerSuppressions } from "./suppressions.ts";
import { registerTemplates } from "./templates.ts";

export function register(program: Command): void {
  const notifications = program
    .command("notifications")
    .description(
      "look after notifications: list, show and resend them, suppressed addresses, preferences, producers, templates",
    );
  registerList(notifications);
  registerShow(notifications);
  registerResend(notifications);
  registerSuppressions(notifications);
  registerPreferences(notifications);
  registerSlackWebhook(notifications);
  registerProducers(notifications);
  registerTemplates(notifications);
}
