/** `headroom policy settings`: the settings of a workspace; creates the workspace with --create. */
import type { Command } from "commander";
import type { Client } from "pg";
import { listWorkspaces, putWorkspace, type Workspace, type WorkspaceChanges } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, emptied, parseWhole, type CommonOptions } from "../../options.ts";
import { printFacts, printJson } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { noSuchWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";

/** False: cleared, by the option that begins with --no-. */
interface SettingsOptions extends CommonOptions, WorkspaceOption {
  readonly create?: boolean;
  readonly name?: string;
  readonly publicUrl?: string | false;
  readonly slackChannel?: string | false;
  readonly slackChannels?: readonly string[] | false;
  readonly slackTeam?: string | false;
  readonly slackEnterprise?: string | false;
  readonly linearTeam?: string | false;
  readonly slackRequesters?: boolean;
  readonly slaHours?: number;
  readonly warnHours?: number;
  readonly remindHours?: number;
  readonly reminders?: number;
  readonly nudgeMinutes?: number;
  readonly actsPerHour?: number | false;
}

export function registerSettings(policy: Command): void {
  const command = policy
    .command("settings")
    .description("show the settings of a workspace, or change those given here")
    .option("--create", "create the workspace if it does not exist")
    .option("--name <text>", "its name")
    .option("--public-url <url>", "the address that customers' links lead to; without it no link is mailed")
    .option("--no-public-url", "mail no links")
    .option("--slack-channel <id>", "where requests are posted")
    .option("--no-slack-channel", "post nothing in Slack")
    .option("--slack-channels <ids...>", "further channels that members may choose for a request")
    .option("--no-slack-channels", "allow no further channels")
    .option("--slack-team <id>", "the Slack workspace whose commands and buttons act on this workspace")
    .option("--no-slack-team", "disconnect the Slack workspace")
    .option("--slack-enterprise <id>", "the Slack Enterprise Grid whose commands and buttons act on this workspace")
    .option("--no-slack-enterprise", "disconnect the Slack Enterprise Grid")
    .option("--linear-team <id>", "the Linear team whose issues mirror requests")
    .option("--no-linear-team", "create no issues")
    .option("--slack-requesters", "let unknown Slack users become requesters")
    .option("--no-slack-requesters", "let only members create requests")
    .option("--sla-hours <count>", "how long a review may take", parseWhole(1, 8_760))
    .option(
      "--warn-hours <count>",
      "how long before the customer's deadline the warning goes out",
      parseWhole(1, 8_760),
    )
    .option("--remind-hours <count>", "minimum time between two reminders of a person", parseWhole(1, 8_760))
    .option("--reminders <count>", "maximum number of reminders for one review", parseWhole(0, 100))
    .option("--nudge-minutes <count>", "minimum time between two nudges", parseWhole(1, 10_080))
    .option("--acts-per-hour <count>", "how often one member may do what notifies others", parseWhole(1, 10_000))
    .option("--no-acts-per-hour", "do not limit it")
    .addOption(workspaceOption());
  addCommon(command).action(runSettings);
}

async function runSettings(options: SettingsOptions): Promise<void> {
  const workspace = await withDatabase(options, "policy settings", (client) => readOrChange(client, options));
  if (options.json === true) return printJson({ workspace });
  show(workspace);
}

async function readOrChange(client: Client, options: SettingsOptions): Promise<Workspace> {
  const present = await listWorkspaces(client);
  const found = present.find(({ id }) => id === options.workspace);
  const changes = toChanges(options);
  const isChange = Object.values(changes).some((value) => value !== undefined);
  if (found === undefined && options.create !== true) {
    const hint = "Name one of these with --workspace, or create a new one with --create.";
    throw noSuchWorkspace(options.workspace, present, hint);
  }
  if (found !== undefined && !isChange) return found;
  return orFail(await putWorkspace(client, options.workspace, changes)).workspace;
}

function toChanges(options: SettingsOptions): WorkspaceChanges {
  return {
    name: options.name,
    publicUrl: emptied(options.publicUrl),
    slackChannelId: emptied(options.slackChannel),
    slackChannelIds: options.slackChannels === false ? [] : options.slackChannels,
    slackTeamId: emptied(options.slackTeam),
    slackEnterpriseId: emptied(options.slackEnterprise),
    linearTeamId: emptied(options.linearTeam),
    slackUsersBecomeRequesters: options.slackRequesters,
    reviewSlaHours: options.slaHours,
    warnBeforeHours: options.warnHours,
    remindEveryHours: options.remindHours,
    mostReminders: options.reminders,
    nudgeEveryMinutes: options.nudgeMinutes,
    actsPerHour: emptied(options.actsPerHour),
  };
}

/** Until a workspace names its Slack workspace, every Slack that signs with the secret acts on the default one. */
function unconnected({ id }: Workspace): string {
  return id === "default" ? "any, as long as no workspace names one" : "not connected";
}

function show(workspace: Workspace): void {
  printFacts([
    ["workspace", `${workspace.id} (${workspace.name})`],
    ["customer links", workspace.publicUrl ?? "not mailed"],
    ["Slack channel", workspace.slackChannelId ?? "nothing is posted"],
    ["further Slack channels", workspace.slackChannelIds.join(", ") || "none"],
    ["Slack workspace", workspace.slackTeamId ?? workspace.slackEnterpriseId ?? unconnected(workspace)],
    ["Linear team", workspace.linearTeamId ?? "no issues are created"],
    ["unknown Slack users", workspace.slackUsersBecomeRequesters ? "become requesters" : "are refused"],
    ["a review may take", `${workspace.reviewSlaHours} h`],
    ["reminders", `${workspace.mostReminders} at most, every ${workspace.remindEveryHours} h`],
    ["nudges", `every ${workspace.nudgeEveryMinutes} min at most`],
    [
      "a member may notify others",
      workspace.actsPerHour === null ? "at will" : `${workspace.actsPerHour} times an hour`,
    ],
    ["customer is warned", `${workspace.warnBeforeHours} h before the deadline`],
  ]);
}
