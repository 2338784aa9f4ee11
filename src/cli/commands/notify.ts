/** `headroom notify`: tells a member something, once per key. */
import { randomUUID } from "node:crypto";
import { InvalidArgumentError, type Command } from "commander";
import { channels, getNotification, notify, type Notification } from "../../notify/index.ts";
import { withDatabase } from "../database.ts";
import { addCommon, collectNames, parseText, parseWhole, type CommonOptions } from "../options.ts";
import { printJson, printLine } from "../output.ts";
import { orFail } from "../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../workspace.ts";

interface NotifyOptions extends CommonOptions, WorkspaceOption {
  readonly title: string;
  readonly body: string;
  readonly url?: string;
  readonly channel?: readonly string[];
  readonly priority?: number;
  readonly expires?: Date;
  readonly key?: string;
}

export function register(program: Command): void {
  addCommon(
    program
      .command("notify")
      .description("tell a member something, by the channels and at the time that they chose")
      .argument("<member>", "by id, by Slack id, or by the id of their account")
      .requiredOption("--title <text>", "one line", parseText(200))
      .requiredOption("--body <text>", "the text of the message", parseText(20_000))
      .option("--url <address>", "where to look")
      .option(
        "--channel <names>",
        `${channels.join(", ")}, or direct: Slack if it knows them, otherwise mail (default: in-app)`,
        collectNames,
      )
      .option("--priority <number>", "0 to 9, higher first (default: 5)", parseWhole(0, 9))
      .option("--expires <time>", "not sent after this: a time, or 90m, 24h, 7d from now (default: 30d)", parseExpiry)
      .option(
        "--key <key>",
        "idempotency key: a second call with it sends nothing (default: a new one)",
        parseText(512),
      )
      .addOption(workspaceOption()),
  ).action(runNotify);
}

const msOf: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function parseExpiry(text: string): Date {
  const span = /^(\d{1,5})(m|h|d)$/.exec(text.trim());
  const time =
    span === null ? new Date(text.trim()) : new Date(Date.now() + Number(span[1]) * (msOf[span[2] ?? ""] ?? 0));
  if ((span !== null || /^\d{4}-\d{2}-\d{2}/.test(text.trim())) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError("Give a date and time (2026-01-31T12:00:00Z) or a span from now (90m, 24h, 7d).");
}

async function runNotify(member: string, options: NotifyOptions): Promise<void> {
  const key = options.key ?? randomUUID();
  const { id, told } = await withDatabase(options, "notify", async (client) => {
    const answer = orFail(
      await notify(client, {
        workspaceId: options.workspace,
        member,
        key,
        title: options.title,
        body: options.body,
        actionUrl: options.url,
        channels: options.channel,
        priority: options.priority,
        expiresAt: options.expires,
      }),
    );
    // A login that may notify people may not be allowed to see the outcome.
    const found = await getNotification(client, answer.id).catch(() => undefined);
    return { id: answer.id, told: found?.outcome === "found" ? found.notification : undefined };
  });
  if (options.json === true) return printJson({ id, key, status: told?.status });
  printLine(`${wordsFor(member, id, told, options)}\nNext: headroom notifications show ${id}`);
}

function wordsFor(member: string, id: string, told: Notification | undefined, options: NotifyOptions): string {
  if (told !== undefined && (told.title !== options.title || told.body !== options.body)) {
    return `${member} got another notification with this key before: ${id}. Nothing was sent.`;
  }
  const failed = told?.parts.filter(({ status }) => status === "failed") ?? [];
  const reasons = failed.map(({ channel, meaning }) => `by ${channel}: ${meaning}`).join("; ");
  if (told?.status === "failed") return `${member} is not reached by notification ${id}: ${reasons}.`;
  return `${member} is notified, as notification ${id}.${reasons === "" ? "" : ` But not ${reasons}.`}`;
}
