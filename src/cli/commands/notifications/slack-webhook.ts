/** `headroom notifications slack-webhook`: a member's own incoming webhook at Slack, set or removed for them. Its address is never shown. */
import { text } from "node:stream/consumers";
import type { Command } from "commander";
import { setSlackWebhook } from "../../../notify/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { asOption, requireMember, type ActingOptions } from "../../acting.ts";
import { withDatabase } from "../../database.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { findSecretKey, secretKeyOption } from "../../secret-key.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface SlackWebhookOptions extends ActingOptions, WorkspaceOption {
  readonly remove?: boolean;
  readonly secretKey?: string;
}

export function registerSlackWebhook(notifications: Command): void {
  addCommon(
    notifications
      .command("slack-webhook")
      .description("set a member's own incoming webhook at Slack; its address is read from standard input")
      .option("--remove", "remove it: the bot writes to them again")
      .addOption(asOption())
      .addOption(workspaceOption())
      .addOption(secretKeyOption()),
  ).action(runSlackWebhook);
}

async function runSlackWebhook(options: SlackWebhookOptions): Promise<void> {
  const member = requireMember(options);
  const url = options.remove === true ? null : await readAddress(member);
  const key = await findSecretKey(options);
  const person = { workspaceId: options.workspace, member };
  const { set } = orFail(
    await withDatabase(options, "notifications slack-webhook", (client) => setSlackWebhook(client, url, person, key)),
  );
  if (options.json === true) return printJson({ set });
  printLine(
    set
      ? `${member} has their own webhook, which gets their messages in Slack.`
      : `${member} does not have their own webhook. The bot writes to them, if Slack knows them.`,
  );
}

async function readAddress(member: string): Promise<string> {
  if (process.stdin.isTTY) {
    throw new HeadroomError(
      "usage",
      "The address is read from standard input: anyone who knows it can write there, so keep it out of the shell's history.",
      { hint: `For example: headroom notifications slack-webhook --as ${member} < address.txt` },
    );
  }
  return (await text(process.stdin)).trim();
}
