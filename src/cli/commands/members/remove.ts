/** `headroom members remove`: removes a member, and says what ended with that and what others have to take over. */
import type { Command } from "commander";
import { removeMember, type Removed } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

export function registerRemoveMember(members: Command): void {
  addCommon(
    members
      .command("remove")
      .description(
        "remove a member: accounts, keys, sessions, roles and groups end immediately; the log keeps the name",
      )
      .argument("<id>", "member id")
      .addOption(workspaceOption()),
  ).action(runRemove);
}

async function runRemove(id: string, options: CommonOptions & WorkspaceOption): Promise<void> {
  const removed = orFail(
    await withDatabase(options, "members remove", (client) => removeMember(client, options.workspace, id)),
  );
  if (options.json === true) return printJson(removed);
  const { leftGroups, openRequests, policies, delegators } = removed;
  printLine(`${id} was removed${leftGroups.length === 0 ? "" : `, also from ${leftGroups.join(", ")}`}.`);
  printLine(`Ended: ${endedOf(removed).join("; ")}.`);
  if (openRequests > 0) {
    printLine(
      `${openRequests === 1 ? "1 open request has" : `${openRequests} open requests have`} ${id} as owner or approver: headroom request list --waits-on ${id}`,
    );
  }
  if (policies.length > 0)
    printLine(`Rules that name ${id}: ${policies.join(", ")}. Change them: headroom policy put <rule>`);
  if (delegators.length > 0) {
    printLine(
      `${id} was the delegate of ${delegators.join(", ")}. Name another: headroom members put <id> --delegate <member>`,
    );
  }
  printLine(`If ${id} returns: headroom members put ${id} --back. Give nobody else this id: the log names it.`);
}

function endedOf({ roles, slackUserId, accounts, apiKeys }: Removed): string[] {
  return [
    "all sessions",
    ...(roles.length === 0 ? [] : [`roles ${roles.join(", ")}`]),
    ...(slackUserId === null ? [] : [`Slack user ${slackUserId}`]),
    ...(accounts === 0 ? [] : [`accounts at identity providers: ${accounts}`]),
    ...(apiKeys.length === 0 ? [] : [`keys ${apiKeys.join(", ")}`]),
  ];
}
