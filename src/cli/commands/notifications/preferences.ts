/** `headroom notifications preferences …`: shows how a member wants to be notified, and changes it for them. */
import { type Command, InvalidArgumentError } from "commander";
import {
  getPreferences,
  setPreferences,
  type CategoryPreferences,
  type PreferenceChanges,
  type Preferences,
} from "../../../notify/index.ts";
import { chosenChannels } from "../../../notify/notification.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { asOption, requireMember, type ActingOptions } from "../../acting.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseText } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

type Choices = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface SetOptions extends ActingOptions, WorkspaceOption {
  readonly timeZone?: string;
  readonly quiet?: readonly [string, string] | false;
  readonly digestAt?: string;
  readonly choose?: Choices;
}

export function registerPreferences(notifications: Command): void {
  const preferences = notifications
    .command("preferences")
    .description("how a member wants to be notified: about what, by which channel, and when");
  addCommon(
    preferences
      .command("show", { isDefault: true })
      .description("show how a member wants to be notified")
      .addOption(asOption())
      .addOption(workspaceOption()),
  ).action(runShow);
  addCommon(
    preferences
      .command("set")
      .description("change how a member wants to be notified; settings that are left out stay unchanged")
      .option("--time-zone <name>", "such as Europe/Berlin", parseText(64))
      .option(
        "--quiet <from-until>",
        "quiet hours, such as 22:00-07:00; notifications are held until they end",
        parseHours,
      )
      .option("--no-quiet", "no quiet hours")
      .option("--digest-at <time>", "when the daily digest is sent, such as 09:00", parseText(8))
      .option(
        "--choose <category.channel=choice>",
        "on, off or digest, such as reviews.email=digest; may be repeated",
        collectChoice,
      )
      .addOption(asOption())
      .addOption(workspaceOption()),
  ).action(runSet);
}

function parseHours(text: string): readonly [string, string] {
  const [from, until, ...rest] = text.split("-").map((part) => part.trim());
  if (from !== undefined && from !== "" && until !== undefined && until !== "" && rest.length === 0)
    return [from, until];
  throw new InvalidArgumentError("Give their beginning and their end, such as 22:00-07:00.");
}

function collectChoice(text: string, before: Choices = {}): Choices {
  const [, category = "", channel = "", choice = ""] =
    /^([a-z-]{1,40})[.]([a-z-]{1,40})=([a-z]{1,40})$/.exec(text.trim()) ?? [];
  if (choice === "")
    throw new InvalidArgumentError("Give it as category.channel=choice, such as reviews.email=digest.");
  return { ...before, [category]: { ...before[category], [channel]: choice } };
}

async function runShow(options: ActingOptions & WorkspaceOption): Promise<void> {
  const person = { workspaceId: options.workspace, member: requireMember(options) };
  const { preferences } = orFail(
    await withDatabase(options, "notifications preferences", (client) => getPreferences(client, person)),
  );
  print(preferences, options.json);
}

async function runSet(options: SetOptions): Promise<void> {
  const person = { workspaceId: options.workspace, member: requireMember(options) };
  const changes = changesOf(options);
  const { preferences } = orFail(
    await withDatabase(options, "notifications preferences", (client) => setPreferences(client, changes, person)),
  );
  print(preferences, options.json);
}

function changesOf({ timeZone, quiet, digestAt, choose }: SetOptions): PreferenceChanges {
  const hours = quiet === undefined ? [] : quiet === false ? [null, null] : quiet;
  const changes = { timeZone, quietFrom: hours[0], quietUntil: hours[1], digestAt, choices: choose };
  if (Object.values(changes).some((value) => value !== undefined)) return changes;
  throw new HeadroomError("usage", "Nothing was given to change.", {
    hint: "Such as: --time-zone Europe/Berlin --quiet 22:00-07:00 --choose reviews.email=digest",
  });
}

function print(preferences: Preferences, json: boolean | undefined): void {
  if (json === true) return printJson(preferences);
  const { quietFrom, quietUntil, reached } = preferences;
  printLine(`${preferences.name} (${preferences.memberId}), by the clock of ${preferences.timeZone}`);
  printLine(`quiet hours   ${quietFrom === null ? "none" : `${quietFrom} to ${quietUntil ?? ""}`}`);
  printLine(`daily digest  ${preferences.digestAt}`);
  printLine();
  const cell = (channel: string, choice: string | undefined) =>
    `${choice ?? "on"}${reached[channel] === false ? " (no address)" : ""}`;
  printTable(preferences.categories, [
    { title: "CATEGORY", value: (row) => row.category },
    ...chosenChannels.map(({ channel }) => ({
      title: channel.toUpperCase(),
      value: ({ choices }: CategoryPreferences) => cell(channel, choices[channel]),
    })),
    { title: "", value: (row) => (row.critical ? "critical: cannot be switched off" : row.meaning) },
  ]);
}
