/** `headroom members …`: the directory of a workspace, the only source of who may do what. */
import type { Command } from "commander";
import { registerDomain } from "./domain.ts";
import { registerGroups } from "./groups.ts";
import { registerIdentity } from "./identity.ts";
import { registerListMembers } from "./list.ts";
import { registerPutMember } from "./put.ts";
import { registerRemoveMember } from "./remove.ts";

export function register(program: Command): void {
  const members = program
    .command("members")
    .description("manage the directory: members, their roles, infra groups, and how they sign in");
  registerListMembers(members);
  registerPutMember(members);
  registerRemoveMember(members);
  registerGroups(members);
  registerIdentity(members);
  registerDomain(members);
}
