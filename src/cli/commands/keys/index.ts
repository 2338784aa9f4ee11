/** `headroom keys …`: the keys of an installation, and those that it hands out to members and machines. */
import type { Command } from "commander";
import { registerInit } from "./init.ts";
import { registerIssue } from "./issue.ts";
import { registerListKeys } from "./list.ts";
import { registerRevoke } from "./revoke.ts";
import { registerRotate } from "./rotate.ts";

export function register(program: Command): void {
  const keys = program
    .command("keys")
    .description("make and change the keys of an installation, hand out API keys, revoke them");
  registerInit(keys);
  registerIssue(keys);
  registerListKeys(keys);
  registerRevoke(keys);
  registerRotate(keys);
}
