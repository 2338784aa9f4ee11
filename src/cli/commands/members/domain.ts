/** `headroom members domain …`: rules that let verified addresses of a domain sign in as the members who have them. */
import type { Command } from "commander";
import { listIdentityDomains, putIdentityDomain, removeIdentityDomain } from "../../../directory/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface RuleOptions extends CommonOptions {
  readonly issuer: string;
}

export function registerDomain(members: Command): void {
  const domain = members
    .command("domain")
    .description("trust an identity provider for the e-mail addresses of a domain");
  addCommon(
    addIssuer(
      domain
        .command("add")
        .description("let verified addresses of a domain sign in as the members who have them; nobody is added")
        .argument("<domain>", "the part after the @, such as example.org"),
    ).addOption(workspaceOption()),
  ).action(runAdd);
  addCommon(domain.command("list").description("list the rules of a workspace").addOption(workspaceOption())).action(
    runList,
  );
  addCommon(
    addIssuer(
      domain
        .command("remove")
        .description("remove a rule and the links that it made, and sign those members out")
        .argument("<domain>", "the domain"),
    ),
  ).action(runRemove);
}

function addIssuer(command: Command): Command {
  return command.requiredOption("--issuer <url>", "the provider's issuer, exactly as in its discovery document");
}

async function runAdd(domain: string, options: RuleOptions & WorkspaceOption): Promise<void> {
  const { workspace: workspaceId, issuer } = options;
  const rule = orFail(
    await withDatabase(options, "members domain add", (client) =>
      putIdentityDomain(client, { workspaceId, issuer, domain }),
    ),
  );
  if (options.json === true) return printJson({ issuer, domain: rule.domain });
  printLine(`Members with a verified address at ${rule.domain} can sign in at ${issuer}.`);
}

async function runList(options: CommonOptions & WorkspaceOption): Promise<void> {
  const domains = await withDatabase(options, "members domain list", (client) =>
    listIdentityDomains(client, options.workspace),
  );
  if (options.json === true) return printJson({ domains });
  if (domains.length === 0) {
    return printLine("There are no rules. Next: headroom members domain add <domain> --issuer <url>");
  }
  printTable(domains, [
    { title: "DOMAIN", value: (row) => row.domain },
    { title: "ISSUER", value: (row) => row.issuer },
    { title: "LINKED", value: (row) => row.linked, align: "right" },
  ]);
}

async function runRemove(domain: string, options: RuleOptions): Promise<void> {
  const { issuer } = options;
  const removed = orFail(
    await withDatabase(options, "members domain remove", (client) => removeIdentityDomain(client, { issuer, domain })),
  );
  if (options.json === true) return printJson(removed);
  printLine(
    `The rule was removed. ${removed.unlinked === 1 ? "1 member whom it had linked was" : `${removed.unlinked} members whom it had linked were`} unlinked and signed out.`,
  );
}
