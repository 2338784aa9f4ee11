/** `headroom keys …`: the keys of an installation, and the API keys that it issues to members and programs. */
import type { Command } from "commander";
import { registerInit } from "./init.ts";
import { registerAnon, registerIssue } from "./issue.ts";
import { registerListKeys } from "./list.ts";
import { registerRevoke } from "./revoke.ts";
import { registerRotate } from "./rotate.ts";

export function register(program: Command): void {
  const keys = program
    .command("keys")
    .description("create and rotate the keys of an installation; issue, list and revoke API keys");
  registerInit(keys);
  registerIssue(keys);
  registerAnon(keys);
  registerListKeys(keys);
  registerRevoke(keys);
  registerRotate(keys);
}
