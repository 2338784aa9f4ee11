/** Whose endpoint a command refers to: names are unique within a workspace, and among the installation's own. */
import { Option } from "commander";
import type { EndpointOwner } from "../../../webhooks/endpoints.ts";

export interface OwnerOption {
  readonly workspace?: string;
}

export function ownerOption(): Option {
  return new Option("--workspace <id>", "an endpoint of this workspace (default: the installation's own)");
}

/** The endpoint's arguments in a command that is suggested next. */
export function named(name: string, workspace: string | null | undefined): string {
  return workspace === undefined || workspace === null ? name : `${name} --workspace ${workspace}`;
}

export function ownerOf({ workspace }: OwnerOption): EndpointOwner {
  return { workspaceId: workspace };
}
