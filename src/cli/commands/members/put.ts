/** `headroom members put`: adds a member, or changes one. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { memberRoles, putMember, type MemberChanges, type MemberRole } from "../../../directory/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, emptied, type CommonOptions } from "../../options.ts";
import { printJson, printLine, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

/** False: cleared, by the option that begins with --no-. */
interface PutOptions extends CommonOptions, WorkspaceOption {
  readonly name?: string;
  readonly email?: string | false;
  readonly slack?: string | false;
  readonly withoutSlack?: true;
  readonly role?: readonly MemberRole[];
  readonly delegate?: string | false;
  readonly awayFrom?: Date;
  readonly awayUntil?: Date;
  readonly away?: false;
  readonly back?: true;
}

export function registerPutMember(members: Command): void {
  addCommon(
    members
      .command("put")
      .description("add a member, or change the settings given here")
      .argument("<id>", "member id")
      .option("--name <text>", "display name")
      .option("--email <address>", "e-mail address")
      .option("--no-email", "remove the e-mail address")
      .option("--slack <id>", "Slack user id, such as U024BE7LH")
      .option("--no-slack", "remove the Slack user id; it is unknown again which Slack user the member is")
      .option("--without-slack", "the member has no Slack account; who says so, and when, is recorded")
      .addOption(
        new Option("--role <role...>", "the member's roles from now on, in place of the old ones").choices(memberRoles),
      )
      .option("--delegate <member>", "who acts for the member while away")
      .option("--no-delegate", "nobody acts for the member")
      .option("--away-from <time>", "start of an absence", parseTime)
      .option("--away-until <time>", "end of an absence", parseTime)
      .option("--no-away", "end the absence")
      .option("--back", "restore a member who was removed, with only the settings given here")
      .addOption(workspaceOption()),
  ).action(runPut);
}

function parseTime(text: string): Date {
  const time = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text.trim()) ? `${text.trim()}T00:00:00Z` : text.trim());
  if (/^\d{4}-\d{2}-\d{2}/.test(text.trim()) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError("Give a date or a time, such as 2027-01-31 or 2027-01-31T12:00:00Z.");
}

async function runPut(id: string, options: PutOptions): Promise<void> {
  const changes = toChanges(options);
  const answer = await withDatabase(options, "members put", (client) =>
    putMember(client, options.workspace, id, changes),
  );
  const { member } = orFail(answer);
  if (options.json === true) return printJson({ member });
  printLine(
    visible(`${member.id} (${member.displayName}) is in the directory: ${member.roles.join(", ") || "no roles"}.`),
  );
}

function toChanges(options: PutOptions): MemberChanges {
  if (options.away === false && (options.awayFrom !== undefined || options.awayUntil !== undefined)) {
    throw new HeadroomError("usage", "--no-away cannot be used together with --away-from or --away-until.");
  }
  return {
    displayName: options.name,
    email: emptied(options.email),
    slackUserId: emptied(options.slack),
    withoutSlack: options.withoutSlack,
    roles: options.role,
    delegate: emptied(options.delegate),
    awayFrom: options.away === false ? null : options.awayFrom,
    awayUntil: options.away === false ? null : options.awayUntil,
    active: options.back,
  };
}
