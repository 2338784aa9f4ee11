/** `headroom policy list`: the approval rules, those that take precedence first. */
import type { Command } from "commander";
import { listPolicies, type Policy } from "../../../capacity/index.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printJson, printLine, printTable } from "../../output.ts";
import { workspaceOption, type WorkspaceOption } from "../../workspace.ts";

export function registerListPolicies(policy: Command): void {
  addCommon(
    policy
      .command("list")
      .description("list approval rules; where several of a kind apply, the lowest rank decides")
      .addOption(workspaceOption()),
  ).action(runList);
}

async function runList(options: CommonOptions & WorkspaceOption): Promise<void> {
  const policies = await withDatabase(options, "policy list", (client) => listPolicies(client, options.workspace));
  if (options.json === true) return printJson({ policies });
  if (policies.length === 0) {
    return printLine("There are no rules: each request names its owner and group, and the owner's approval counts.");
  }
  printTable(policies, [
    { title: "ID", value: (row) => row.id },
    { title: "KIND", value: (row) => row.kind },
    { title: "STEP", value: (row) => row.step },
    { title: "RANK", value: (row) => row.rank, align: "right" },
    { title: "WHEN", value: describeConditions },
    { title: "THEN", value: describeRule },
    { title: "STATE", value: (row) => (row.enabled ? "on" : "off") },
    { title: "DESCRIPTION", value: (row) => row.description },
  ]);
}

export function describeConditions(policy: Policy): string {
  const conditions = [
    policy.sizes === null ? null : `size ${policy.sizes.join(" or ")}`,
    policy.regions === null ? null : `region ${policy.regions.join(" or ")}`,
    policy.minMonthlyCostUsd === null ? null : `cost from ${policy.minMonthlyCostUsd}`,
    policy.maxMonthlyCostUsd === null ? null : `cost to ${policy.maxMonthlyCostUsd}`,
    policy.maxQuantity === null ? null : `quantity to ${policy.maxQuantity}`,
  ].filter((condition) => condition !== null);
  return conditions.join(", ") || "always";
}

export function describeRule(policy: Policy): string {
  switch (policy.kind) {
    case "auto_approval":
      return "approved automatically";
    case "escalation":
      return `needs ${policy.approver ?? `the role ${policy.approverRole ?? "-"}`}`;
    default:
      return `asks ${policy.approver ?? `the group ${policy.group ?? "-"}`}`;
  }
}
