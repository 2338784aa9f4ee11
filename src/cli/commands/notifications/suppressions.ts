/** `headroom notifications suppressions | suppress | lift`: lists the addresses that get no more mail, stops mail to one, and allows it again. */
import { type Command, Option } from "commander";
import { liftSuppression, listSuppressions, suppressAddress, type Suppression } from "../../../notify/index.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseText, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace, workspaceOption, type WorkspaceOption } from "../../workspace.ts";

interface ListOptions extends CommonOptions {
  readonly workspace?: string;
  readonly lifted?: boolean;
  readonly limit: number;
}

export function registerSuppressions(notifications: Command): void {
  addCommon(
    notifications
      .command("suppressions")
      .description(
        "list addresses to which no mail goes any more; they are kept as hashes, with the member who has one",
      )
      .option("--lifted", "also those that were lifted")
      .addOption(new Option("--workspace <id>", "only of this workspace (default: all)").env("HEADROOM_WORKSPACE"))
      .option("--limit <rows>", "most rows, up to 10000", parseWhole(1, 10_000), 50),
  ).action(runList);
  addCommon(
    notifications
      .command("suppress")
      .description("stop mail to an address, because its owner complained")
      .argument("<address>", "the address", parseText(320))
      .addOption(actorOption())
      .addOption(workspaceOption()),
  ).action(runSuppress);
  addCommon(
    notifications
      .command("lift")
      .description("let mail go to an address again, because its owner says that it works")
      .argument("<address>", "the address", parseText(320))
      .addOption(actorOption())
      .addOption(workspaceOption()),
  ).action(runLift);
}

async function runList(options: ListOptions): Promise<void> {
  const { workspace: workspaceId, lifted, limit } = options;
  const { suppressions } = await withDatabase(options, "notifications suppressions", async (client) => {
    const listed = orFail(await listSuppressions(client, { workspaceId, lifted, limit }));
    if (listed.suppressions.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    return listed;
  });
  if (options.json === true) printJson({ suppressions });
  else show(suppressions, limit);
}

function show(suppressions: readonly Suppression[], limit: number): void {
  if (suppressions.length === 0) return printLine("No address is suppressed.");
  printTable(suppressions, [
    { title: "ADDRESS", value: (row) => `${row.mark.slice(0, 12)}…` },
    { title: "OF", value: (row) => row.memberId ?? "nobody in the directory" },
    { title: "BECAUSE", value: (row) => row.reason },
    { title: "SINCE", value: (row) => row.since },
    { title: "SAID", value: (row) => row.said },
    { title: "LIFTED", value: (row) => row.liftedAt },
    { title: "BY", value: (row) => row.liftedBy },
    { title: "WORKSPACE", value: (row) => row.workspaceId },
  ]);
  if (suppressions.length === limit) printLine(`\nThere may be more: --limit ${Math.min(limit * 2, 10_000)}`);
  printLine("\nNext, for an address that works: headroom notifications lift <address> --workspace <workspace>");
}

async function runSuppress(address: string, options: CommonOptions & ActorOption & WorkspaceOption): Promise<void> {
  const { workspace: workspaceId, actor } = options;
  const { suppressed } = await withDatabase(options, "notifications suppress", async (client) => {
    await requireWorkspace(client, workspaceId);
    return orFail(await suppressAddress(client, { workspaceId, address, actor }));
  });
  if (options.json === true) return printJson({ suppressed });
  printLine(suppressed ? "No mail goes to this address any more." : "It was suppressed before. Nothing was changed.");
  printLine("Next, if they want mail again: headroom notifications lift <address> --workspace <workspace>");
}

async function runLift(address: string, options: CommonOptions & ActorOption & WorkspaceOption): Promise<void> {
  const { workspace: workspaceId, actor } = options;
  const { lifted } = await withDatabase(options, "notifications lift", async (client) => {
    await requireWorkspace(client, workspaceId);
    return orFail(await liftSuppression(client, { workspaceId, address, actor }));
  });
  if (options.json === true) return printJson({ lifted });
  printLine(
    lifted ? "Mail goes to this address again." : "It was not suppressed in this workspace. Nothing was changed.",
  );
  printLine("Next, for what was not sent meanwhile: headroom notifications list --status failed");
}
