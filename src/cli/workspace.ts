/** The option that names a workspace, and the error if there is no such workspace. */
import { Option } from "commander";
import type { Client } from "pg";
import { listWorkspaces, type Workspace } from "../directory/index.ts";
import { HeadroomError } from "../db/errors.ts";

export interface WorkspaceOption {
  readonly workspace: string;
}

export function workspaceOption(): Option {
  return new Option("--workspace <id>", "which workspace").env("HEADROOM_WORKSPACE").default("default");
}

export function noSuchWorkspace(id: string, present: readonly Workspace[], hint: string): HeadroomError {
  return new HeadroomError("not_found", `There is no workspace "${id}".`, {
    detail: `There are: ${present.map((workspace) => workspace.id).join(", ")}`,
    hint,
  });
}

/** An empty list may mean that there is nothing, or that the workspace's name is misspelt. */
export async function requireWorkspace(client: Client, id: string): Promise<void> {
  const present = await listWorkspaces(client);
  if (present.some((workspace) => workspace.id === id)) return;
  throw noSuchWorkspace(id, present, "Name one of these with --workspace.");
}
