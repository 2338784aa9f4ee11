/** `headroom members list`: the members of a workspace. */
import type { Command } from "commander";
import { listUnlinkedReviewers } from "../../../capacity/index.ts";
import { listMembers, type ListedMember } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface ListOptions extends CommonOptions, WorkspaceOption {
  readonly all?: boolean;
}

export function registerListMembers(members: Command): void {
  addCommon(
    members
      .command("list")
      .description("list members with their roles and groups")
      .option("--all", "also show members who were removed")
      .addOption(workspaceOption()),
  ).action(runList);
}

async function runList(options: ListOptions): Promise<void> {
  const { answer, unlinked } = await withDatabase(options, "members list", async (client) => ({
    answer: await listMembers(client, options.workspace, { inactive: options.all }),
    unlinked: new Set((await listUnlinkedReviewers(client, options.workspace)).map(({ memberId }) => memberId)),
  }));
  const members = orFail(answer).members.map((member) => ({ ...member, slackMissing: unlinked.has(member.id) }));
  if (options.json === true) return printJson({ members });
  if (members.length === 0) {
    return printLine('The directory is empty. Next: headroom members put <id> --name "…" --role requester');
  }
  printTable(members, [
    { title: "ID", value: (row) => row.id },
    { title: "NAME", value: (row) => row.displayName },
    { title: "ROLES", value: (row) => row.roles.join(", ") },
    { title: "GROUPS", value: (row) => (row.groups.length === 0 ? null : row.groups.join(", ")) },
    { title: "E-MAIL", value: (row) => row.email },
    { title: "SLACK", value: slackOf },
    { title: "STATE", value: stateOf },
  ]);
  if (unlinked.size > 0) {
    printLine(
      "\nReviewers without a Slack user id: nobody who is not in the directory can start in Slack until each has one\n(headroom members put <id> --slack U024BE7LH), or has none (--without-slack).",
    );
  }
}

function slackOf(member: ListedMember & { readonly slackMissing: boolean }): string | null {
  if (member.slackMissing) return "missing";
  return member.withoutSlack === null ? member.slackUserId : "none";
}

function stateOf(member: ListedMember): string {
  if (!member.active) return "removed";
  if (!member.away || member.awayUntil === null) return "active";
  const until = `away until ${member.awayUntil.toISOString()}`;
  return member.delegate === null ? until : `${until}, ${member.delegate} acts`;
}
