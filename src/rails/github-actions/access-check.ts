/**
 * Whether GitHub accepts the token, and whether the token has the rights in the connected repositories that provisioning needs.
 *
 * Owns: the questions, none of which starts anything. Does not own: which repositories are connected.
 */
import { z } from "zod";
import { openConnections } from "../exchange.ts";
import { requireSettings } from "../fields.ts";
import { lacking, maxPlaces, problemOf, type AccessCheck, type AccessProblem } from "../access-check.ts";
import { createGithubCall, type GithubCall, type GithubFailure } from "./call.ts";
import { githubActionsCodes } from "./codes.ts";
import { githubActionsSettingsSchema, type GithubActionsSettings } from "./config.ts";

export interface ConnectedRepository {
  readonly owner: string;
  readonly repo: string;
  /** The branch or tag that workflows are dispatched on. */
  readonly ref: string;
  /** File names below .github/workflows. */
  readonly workflows: readonly string[];
}

/** First reads the rate limit, which every kind of token may read, and which does not count against it. Returns the first problem. */
export async function checkGithubAccess(
  given: GithubActionsSettings,
  repositories: readonly ConnectedRepository[],
  signal: AbortSignal,
): Promise<AccessCheck> {
  const settings = requireSettings("github-actions", githubActionsSettingsSchema, given);
  const connections = openConnections();
  try {
    const call = createGithubCall(settings, connections);
    const answer = await call("GET /rate_limit", {}, signal);
    if (answer.kind === "failure") return problemWith(answer);
    const asked = repositories.slice(0, maxPlaces).map((repository) => repositoryProblem(call, repository, signal));
    const problem = (await Promise.all(asked)).find((each) => each !== undefined);
    return problem ?? { kind: "answers", as: "the token's owner" };
  } finally {
    connections.close();
  }
}

async function repositoryProblem(
  call: GithubCall,
  repository: ConnectedRepository,
  signal: AbortSignal,
): Promise<AccessProblem | undefined> {
  for (const file of repository.workflows) {
    const problem =
      (await workflowProblem(call, repository, file, signal)) ??
      (await contentsProblem(call, repository, file, signal));
    if (problem !== undefined) return problem;
  }
  const [file] = repository.workflows;
  return file === undefined ? undefined : await dispatchProblem(call, repository, file, signal);
}

const workflowSchema = z.object({ state: z.string() });

async function workflowProblem(
  call: GithubCall,
  { owner, repo }: ConnectedRepository,
  file: string,
  signal: AbortSignal,
): Promise<AccessProblem | undefined> {
  const route = "GET /repos/{owner}/{repo}/actions/workflows/{file}";
  const answer = await call(route, { owner, repo, file }, signal);
  if (answer.kind === "data") {
    if (workflowSchema.parse(answer.data).state === "active") return undefined;
    const remedy = `Enable it on GitHub: ${owner}/${repo}, Actions, ${file}, Enable workflow.`;
    return lacking(true, `The workflow ${file} in ${owner}/${repo} is not active.`, remedy);
  }
  if (answer.code !== "http_404") return problemIn(`${owner}/${repo}`, answer, "Actions: write");
  return lacking(
    true,
    `There is no workflow ${file} on the default branch of ${owner}/${repo}, or the token cannot see it.`,
    `Add the file as .github/workflows/${file}, and give the token access to the repository. ${whereToChange}`,
  );
}

async function contentsProblem(
  call: GithubCall,
  { owner, repo, ref }: ConnectedRepository,
  file: string,
  signal: AbortSignal,
): Promise<AccessProblem | undefined> {
  const route = "GET /repos/{owner}/{repo}/contents/.github/workflows/{file}";
  const answer = await call(route, { owner, repo, file, ref }, signal);
  if (answer.kind === "data") return undefined;
  if (answer.code !== "http_404") return problemIn(`${owner}/${repo}`, answer, "Contents: read");
  return lacking(
    true,
    `${owner}/${repo} has no file .github/workflows/${file} at ${ref}, or the token cannot read it.`,
    `Add the file there, or name another branch; and give the token Contents: read. ${whereToChange}`,
  );
}

/** No branch should have this name. If one did, workflows that require inputs, as ours do, would still not start without them. */
const noSuchRef = "headroom/doctor-does-not-exist";

/** GitHub checks the permission before it looks for the branch, so the answer "no such branch" proves the permission. */
async function dispatchProblem(
  call: GithubCall,
  { owner, repo }: ConnectedRepository,
  file: string,
  signal: AbortSignal,
): Promise<AccessProblem | undefined> {
  const route = "POST /repos/{owner}/{repo}/actions/workflows/{file}/dispatches";
  const answer = await call(route, { owner, repo, file, ref: noSuchRef }, signal);
  if (answer.kind === "data") {
    return lacking(
      false,
      `${owner}/${repo} has a branch ${noSuchRef}, and checking whether ${file} may be started has started it.`,
      "Delete that branch, and cancel the run.",
    );
  }
  if (answer.code === "http_422") return undefined;
  if (answer.code !== "http_404") return problemIn(`${owner}/${repo}`, answer, "Actions: write");
  return lacking(
    true,
    `The token can see ${file} in ${owner}/${repo}, but not start it.`,
    `Give the token Actions: write there, or its owner write access to the repository. ${whereToChange}`,
  );
}

const whereToChange =
  "On GitHub: Settings, Developer settings, Fine-grained tokens (or the app's Permissions & events); docs/guides/rails.md.";

function problemIn(where: string, failure: GithubFailure, permission: string): AccessProblem {
  if (failure.code !== "http_403") return problemWith(failure);
  return lacking(
    true,
    `The token lacks ${permission} in ${where} (${failure.detail ?? "HTTP 403"}).`,
    `Give the token ${permission} for this repository. ${whereToChange}`,
  );
}

function problemWith({ code, detail }: GithubFailure): AccessProblem {
  return problemOf(code, githubActionsCodes[code].meaning, detail, ["http_401"]);
}
