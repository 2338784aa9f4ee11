/** `headroom payments findings | resolve`: lists where Stripe's data does not agree with ours, and records the outcome of each. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { listFindings, resolveFinding, type MoneyFinding } from "../../../billing/index.ts";
import { requireReason } from "../../acting.ts";
import { actorOption, type ActorOption } from "../../actor.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseText, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { requireWorkspace } from "../../workspace.ts";
import { uuid } from "./payment-id.ts";

interface FindingsOptions extends CommonOptions {
  readonly all?: boolean;
  readonly workspace?: string;
  readonly limit: number;
}

interface ResolveOptions extends CommonOptions, ActorOption {
  readonly reason?: string;
}

export function registerFindings(payments: Command): void {
  addCommon(
    payments
      .command("findings")
      .description("list where Stripe's data does not agree with ours; no money was moved because of it")
      .option("--all", "also those that were resolved")
      .addOption(new Option("--workspace <id>", "only of this workspace (default: all)").env("HEADROOM_WORKSPACE"))
      .option("--limit <rows>", "most rows, up to 10000", parseWhole(1, 10_000), 50),
  ).action(runFindings);
  addCommon(
    payments
      .command("resolve")
      .description("record that you checked a finding, and the outcome; moves no money")
      .argument("<finding>", "finding id", parseFindingId)
      .option("--reason <text>", "the outcome; asked for at a terminal when left out", parseText(500))
      .addOption(actorOption()),
  ).action(runResolve);
}

function parseFindingId(text: string): string {
  if (uuid.test(text.trim())) return text.trim().toLowerCase();
  throw new InvalidArgumentError("Give a finding's id: headroom payments findings");
}

async function runFindings(options: FindingsOptions): Promise<void> {
  const { workspace: workspaceId, all, limit } = options;
  const { findings } = await withDatabase(options, "payments findings", async (client) => {
    const listed = orFail(await listFindings(client, { workspaceId, all, limit }));
    if (listed.findings.length === 0 && workspaceId !== undefined) await requireWorkspace(client, workspaceId);
    return listed;
  });
  if (options.json === true) printJson({ findings });
  else show(findings, limit);
}

function show(findings: readonly MoneyFinding[], limit: number): void {
  if (findings.length === 0) return printLine("What Stripe said agrees with what we know.");
  printTable(findings, [
    { title: "FINDING", value: (row) => row.id },
    { title: "KIND", value: (row) => row.kind },
    { title: "AT STRIPE", value: (row) => row.stripeId },
    { title: "REQUEST", value: (row) => row.requestId },
    { title: "FOUND", value: (row) => row.foundAt },
    { title: "SAID", value: (row) => row.said },
    {
      title: "RESOLVED",
      value: (row) => (row.resolved === null ? null : `${row.resolved.by}: ${row.resolved.resolution}`),
    },
  ]);
  if (findings.length === limit) printLine(`\nThere may be more: --limit ${Math.min(limit * 2, 10_000)}`);
  const open = findings.find(({ resolved }) => resolved === null);
  if (open === undefined) return;
  printLine(`\nLook at ${open.stripeId} in Stripe's dashboard, then record the outcome:`);
  printLine(`Next: headroom payments resolve ${open.id} --reason "…"`);
}

async function runResolve(id: string, options: ResolveOptions): Promise<void> {
  const reason = await requireReason(options);
  orFail(
    await withDatabase(options, "payments resolve", (client) => resolveFinding(client, id, reason, options.actor)),
  );
  if (options.json === true) return printJson({ resolved: id });
  printLine(`Recorded for ${id}: ${options.actor} has looked at it.`);
  printLine("Next: headroom payments findings");
}
