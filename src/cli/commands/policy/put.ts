/** `headroom policy put`: creates an approval rule, or changes one. */
import { type Command, Option } from "commander";
import { putPolicy, type PolicyConditions, type PolicyRule } from "../../../capacity/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, emptied, parseMoney, parseWhole, type CommonOptions } from "../../options.ts";
import { printJson, printLine, visible } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";
import { describeConditions, describeRule } from "./list.ts";

const kinds = ["escalation", "auto_approval", "review_route"] as const;
const steps = ["commercial", "technical", "both"] as const;
const approverRoles = ["commercial", "vp", "admin"] as const;

/** False: cleared, by the option that begins with --no-. */
interface PutOptions extends CommonOptions, WorkspaceOption {
  readonly kind?: (typeof kinds)[number];
  readonly step?: (typeof steps)[number];
  readonly approverRole?: (typeof approverRoles)[number];
  readonly approver?: string;
  readonly group?: string;
  readonly rank?: number;
  readonly size?: readonly string[] | false;
  readonly region?: readonly string[] | false;
  readonly minCost?: string | false;
  readonly maxCost?: string | false;
  readonly maxQuantity?: number | false;
  readonly description?: string | false;
  readonly enable?: boolean;
  readonly disable?: boolean;
}

export function registerPutPolicy(policy: Command): void {
  const command = policy
    .command("put")
    .description("create an approval rule, or change one; open requests keep the rules they were submitted under")
    .argument("<id>", "rule id")
    .addOption(new Option("--kind <kind>", "what it does").choices(kinds))
    .addOption(new Option("--step <step>", "which review it is about").choices(steps))
    .addOption(
      new Option("--approver-role <role>", "escalation: the role whose approval is needed").choices(approverRoles),
    )
    .option("--approver <member>", "escalation or commercial route: the member")
    .option("--group <group>", "technical route: the infra group")
    .option(
      "--rank <number>",
      "where several rules of a kind apply, the lowest rank decides",
      parseWhole(-1_000_000, 1_000_000),
    )
    .option("--size <size...>", "only for these sizes")
    .option("--no-size", "for any size")
    .option("--region <region...>", "only in these regions")
    .option("--no-region", "in any region")
    .option("--min-cost <usd>", "only from this monthly cost on", parseMoney)
    .option("--no-min-cost", "from any cost on")
    .option("--max-cost <usd>", "only up to this monthly cost", parseMoney)
    .option("--no-max-cost", "up to any cost")
    .option("--max-quantity <count>", "only up to this quantity", parseWhole(1, 10_000))
    .option("--no-max-quantity", "up to any quantity")
    .option("--description <text>", "what it is for")
    .option("--no-description", "remove the description")
    .option("--enable", "switch it on")
    .option("--disable", "switch it off")
    .addOption(workspaceOption());
  addCommon(command).action(runPut);
}

async function runPut(id: string, options: PutOptions): Promise<void> {
  const rule = toRule(options);
  const conditions = toConditions(options);
  const answer = await withDatabase(options, "policy put", (client) =>
    putPolicy(client, options.workspace, id, rule, conditions),
  );
  const { policy } = orFail(answer);
  if (options.json === true) return printJson({ policy });
  const state = policy.enabled ? "" : " It is switched off.";
  printLine(visible(`${policy.id}: ${describeConditions(policy)}, ${policy.step}: ${describeRule(policy)}.${state}`));
  printLine("It applies to requests that are created from now on. Try it: headroom request preview");
}

function wrong(message: string): HeadroomError {
  return new HeadroomError("usage", message, {
    hint: "headroom policy put --help lists what each kind takes. Nothing was changed.",
  });
}

function toRule(options: PutOptions): PolicyRule | undefined {
  const { kind, step, approverRole, approver, group } = options;
  if (kind === undefined) {
    if ([step, approverRole, approver, group].some((value) => value !== undefined)) {
      throw wrong("--step, --approver-role, --approver and --group need --kind.");
    }
    return undefined;
  }
  if (kind === "auto_approval") {
    if (step === undefined) throw wrong("An automatic approval needs --step commercial, technical or both.");
    return { kind, step };
  }
  if (kind === "escalation") {
    if (approverRole !== undefined && approver === undefined) return { kind, approverRole };
    if (approver !== undefined && approverRole === undefined) return { kind, approver };
    throw wrong("An escalation needs either --approver-role or --approver.");
  }
  if (step === "commercial" && approver !== undefined) return { kind, step, approver };
  if (step === "technical" && group !== undefined) return { kind, step, group };
  throw wrong("A route needs --step commercial with --approver, or --step technical with --group.");
}

function toConditions(options: PutOptions): PolicyConditions {
  if (options.enable === true && options.disable === true) {
    throw new HeadroomError("usage", "--enable and --disable cannot be used together.");
  }
  return {
    rank: options.rank,
    enabled: options.enable === true ? true : options.disable === true ? false : undefined,
    description: emptied(options.description),
    sizes: emptied(options.size),
    regions: emptied(options.region),
    minMonthlyCostUsd: emptied(options.minCost),
    maxMonthlyCostUsd: emptied(options.maxCost),
    maxQuantity: emptied(options.maxQuantity),
  };
}
