/** `headroom members groups | put-group | remove-group`: who gives technical reviews. */
import type { Command } from "commander";
import { listGroups, putGroup, removeGroup } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, collect, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

type Options = CommonOptions & WorkspaceOption;

interface PutGroupOptions extends CommonOptions, WorkspaceOption {
  readonly name?: string;
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly slackChannel?: string | false;
}

export function registerGroups(members: Command): void {
  addCommon(
    members.command("groups").description("list infra groups and who is in them").addOption(workspaceOption()),
  ).action(runGroups);
  addCommon(
    members
      .command("put-group")
      .description("create an infra group, or change its name, its channel and members")
      .argument("<id>", "group id")
      .option("--name <text>", "its name")
      .option("--add <member>", "add a member; may be repeated", collect)
      .option("--remove <member>", "remove a member; may be repeated", collect)
      .option(
        "--slack-channel <id>",
        "where to post which reviews wait for the group, instead of messages to each member",
      )
      .option("--no-slack-channel", "notify its members directly")
      .addOption(workspaceOption()),
  ).action(runPutGroup);
  addCommon(
    members
      .command("remove-group")
      .description("remove an infra group that nothing waits for")
      .argument("<id>", "group id")
      .addOption(workspaceOption()),
  ).action(runRemoveGroup);
}

async function runGroups(options: Options): Promise<void> {
  const groups = await withDatabase(options, "members groups", (client) => listGroups(client, options.workspace));
  if (options.json === true) return printJson({ groups });
  if (groups.length === 0)
    return printLine("There are no groups. Next: headroom members put-group <id> --add <member>");
  printTable(groups, [
    { title: "ID", value: (row) => row.id },
    { title: "NAME", value: (row) => row.name },
    { title: "CHANNEL", value: (row) => row.slackChannelId },
    { title: "MEMBERS", value: (row) => (row.members.length === 0 ? null : row.members.join(", ")) },
  ]);
}

async function runPutGroup(id: string, options: PutGroupOptions): Promise<void> {
  const { name, add, remove } = options;
  const slackChannelId = options.slackChannel === false ? null : options.slackChannel;
  const answer = await withDatabase(options, "members put-group", (client) =>
    putGroup(client, options.workspace, id, { name, add, remove, slackChannelId }),
  );
  const { group } = orFail(answer);
  if (options.json === true) return printJson({ group });
  const told = group.slackChannelId === null ? "" : ` It is notified in the channel ${group.slackChannelId}.`;
  printLine(visible(`${group.id} (${group.name}): ${group.members.join(", ") || "nobody yet"}.${told}`));
}

async function runRemoveGroup(id: string, options: Options): Promise<void> {
  const removed = orFail(
    await withDatabase(options, "members remove-group", (client) => removeGroup(client, options.workspace, id)),
  );
  if (options.json === true) return printJson(removed);
  printLine(`${id} was removed.`);
}
