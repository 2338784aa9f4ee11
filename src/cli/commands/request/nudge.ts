/** `headroom request nudge`: asks those on whom a request waits to decide. */
import type { Command } from "commander";
import { nudgeRequest } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon } from "../../options.ts";
import { printJson, printLine, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { asOption, parseRequestId, requireMember, type ActingOptions } from "../../acting.ts";

export function registerNudge(request: Command): void {
  addCommon(
    request
      .command("nudge")
      .description("remind those on whom a request waits, as its requester or an admin")
      .argument("<id>", "request id", parseRequestId)
      .addOption(asOption()),
  ).action(runNudge);
}

async function runNudge(id: string, options: ActingOptions): Promise<void> {
  const as = requireMember(options);
  const nudged = orFail(await withDatabase(options, "request nudge", (client) => nudgeRequest(client, id, as)));
  if (options.json === true) return printJson(nudged);
  const asked = nudged.asked.map((person) => `${person.name} (${person.id})`).join(", ");
  printLine(visible(`${id}: ${asked === "" ? "the nudge is recorded" : `${asked} will be asked to decide`}.`));
  if (nudged.effects.length === 0) {
    printLine("The workspace has no Slack channel or Linear team, so nobody is notified outside Headroom.");
  }
  printLine(`The next nudge is possible from ${nudged.nextNudgeAt.toISOString()} on.`);
}
