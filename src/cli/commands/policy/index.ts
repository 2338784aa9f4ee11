/** `headroom policy …`: approval rules and settings of a workspace. */
import type { Command } from "commander";
import { registerLinearState } from "./linear-state.ts";
import { registerListPolicies } from "./list.ts";
import { registerPutPolicy } from "./put.ts";
import { registerRemovePolicy } from "./remove.ts";
import { registerSettings } from "./settings.ts";

export function register(program: Command): void {
  const policy = program.command("policy").description("manage approval rules, and the settings of a workspace");
  registerListPolicies(policy);
  registerPutPolicy(policy);
  registerRemovePolicy(policy);
  registerSettings(policy);
  registerLinearState(policy);
}
