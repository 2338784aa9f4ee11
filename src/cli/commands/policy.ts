/** `headroom policy …`: approval rules and settings of a workspace. */
import type { Command } from "commander";
import { registerLinearState } from "./policy/linear-state.ts";
import { registerListPolicies } from "./policy/list.ts";
import { registerPutPolicy } from "./policy/put.ts";
import { registerRemovePolicy } from "./policy/remove.ts";
import { registerSettings } from "./policy/settings.ts";

export function register(program: Command): void {
  const policy = program.command("policy").description("keep approval rules, and the settings of a workspace");
  registerListPolicies(policy);
  registerPutPolicy(policy);
  registerRemovePolicy(policy);
  registerSettings(policy);
  registerLinearState(policy);
}
