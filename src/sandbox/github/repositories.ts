/**
 * The contents of the stand-in's repositories, and what the token may do in them, from the sample data.
 */
import type { World } from "../core/world.ts";
import type { GithubPermission, GithubRepository } from "../sample-data.ts";

export interface Place {
  readonly owner: string;
  readonly repo: string;
}

export function lacks(world: World, place: Place, permission: GithubPermission): boolean {
  return repositoryAt(world, place)?.lacks?.includes(permission) === true;
}

export function hasWorkflow(world: World, wanted: Place & { readonly workflow: string }): boolean {
  return world.sampleData.githubRepositories === undefined
    ? /\.ya?ml$|^\d+$/.test(wanted.workflow)
    : repositoryAt(world, wanted)?.workflows.includes(wanted.workflow) === true;
}

/** Every repository has one. */
export function isBranch(ref: string): boolean {
  return ref.replace(/^refs\/heads\//, "") === "main";
}

function repositoryAt({ sampleData }: World, place: Place): GithubRepository | undefined {
  return sampleData.githubRepositories?.find(({ owner, repo }) => owner === place.owner && repo === place.repo);
}
