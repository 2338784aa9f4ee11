/** `headroom policy remove`: removes an approval rule. */
import type { Command } from "commander";
import { removePolicy } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

export function registerRemovePolicy(policy: Command): void {
  addCommon(
    policy
      .command("remove")
      .description("remove an approval rule; requests that were submitted under it keep it")
      .argument("<id>", "rule id")
      .addOption(workspaceOption()),
  ).action(runRemove);
}

async function runRemove(id: string, options: CommonOptions & WorkspaceOption): Promise<void> {
  const removed = orFail(
    await withDatabase(options, "policy remove", (client) => removePolicy(client, options.workspace, id)),
  );
  if (options.json === true) return printJson(removed);
  printLine(`The rule ${id} was removed. Requests that were submitted under it keep it.`);
}
