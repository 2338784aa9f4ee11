/** `headroom members identity …`: which account at an identity provider is which member. */
import type { Command } from "commander";
import { listIdentities, putIdentity, removeIdentity } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface AccountOptions extends CommonOptions {
  readonly issuer: string;
  readonly subject: string;
}

export function registerIdentity(members: Command): void {
  const identity = members.command("identity").description("link accounts at an identity provider to members");
  addCommon(
    addAccount(
      identity
        .command("add")
        .description("link an account to a member, who can then sign in with it")
        .argument("<member>", "member id"),
    ).addOption(workspaceOption()),
  ).action(runAdd);
  addCommon(
    identity
      .command("list")
      .description("list the accounts with which members sign in")
      .argument("[member]", "one member only")
      .addOption(workspaceOption()),
  ).action(runList);
  addCommon(
    addAccount(identity.command("remove").description("unlink an account, and sign its member out of every browser")),
  ).action(runRemove);
}

function addAccount(command: Command): Command {
  return command
    .requiredOption("--issuer <url>", "the provider's issuer, exactly as in its discovery document")
    .requiredOption("--subject <id>", "the provider's id of the account (sub)");
}

async function runAdd(memberId: string, options: AccountOptions & WorkspaceOption): Promise<void> {
  const { workspace: workspaceId, issuer, subject } = options;
  const { identity } = orFail(
    await withDatabase(options, "members identity add", (client) =>
      putIdentity(client, { workspaceId, memberId, issuer, subject }),
    ),
  );
  if (options.json === true) return printJson({ identity });
  printLine(visible(`${memberId} signs in as ${subject} at ${issuer}.`));
}

async function runList(memberId: string | undefined, options: CommonOptions & WorkspaceOption): Promise<void> {
  const identities = await withDatabase(options, "members identity list", (client) =>
    listIdentities(client, options.workspace, memberId),
  );
  if (options.json === true) return printJson({ identities });
  if (identities.length === 0) {
    return printLine(
      "No account is linked. Next: headroom members identity add <member> --issuer <url> --subject <id>",
    );
  }
  printTable(identities, [
    { title: "MEMBER", value: (row) => row.memberId },
    { title: "ISSUER", value: (row) => row.issuer },
    { title: "SUBJECT", value: (row) => row.subject },
    { title: "LINKED BY", value: (row) => (row.madeByDomain === null ? "admin" : `domain ${row.madeByDomain}`) },
  ]);
}

async function runRemove(options: AccountOptions): Promise<void> {
  const removed = orFail(
    await withDatabase(options, "members identity remove", (client) => removeIdentity(client, options)),
  );
  if (options.json === true) return printJson(removed);
  printLine(`${removed.memberId} was unlinked from this account and signed out of every browser.`);
}
