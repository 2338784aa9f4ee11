/**
 * How a run looks in GitHub's answers and webhooks.
 */
import { sha256 } from "../../db/hash.ts";
import type { World } from "../core/world.ts";
import type { WorkflowRun } from "./state.ts";

type Shape = Record<string, unknown>;

export function runShape(world: World, run: WorkflowRun): Shape {
  const api = `${world.url()}/github/repos/${run.owner}/${run.repo}`;
  return {
    id: run.id,
    name: run.workflow.replace(/\.ya?ml$/, ""),
    node_id: Buffer.from(`WorkflowRun${run.id}`).toString("base64"),
    head_branch: run.ref.replace(/^refs\/heads\//, ""),
    head_sha: sha256(run.ref).slice(0, 40),
    path: `.github/workflows/${run.workflow}`,
    display_title: run.title,
    run_number: run.runNumber,
    run_attempt: run.runAttempt,
    event: "workflow_dispatch",
    status: run.status,
    conclusion: run.conclusion,
    workflow_id: workflowId(run.workflow),
    url: `${api}/actions/runs/${run.id}`,
    html_url: `${world.url()}/github?run=${run.id}`,
    jobs_url: `${api}/actions/runs/${run.id}/jobs`,
    cancel_url: `${api}/actions/runs/${run.id}/cancel`,
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    run_started_at: run.createdAt,
    actor: userShape(),
    triggering_actor: userShape(),
    repository: repositoryShape(world, run),
  };
}

export function workflowShape(file: string): Shape {
  return {
    id: workflowId(file),
    name: file.replace(/\.ya?ml$/, ""),
    path: `.github/workflows/${file}`,
    state: "active",
  };
}

export function repositoryShape(world: World, run: Pick<WorkflowRun, "owner" | "repo">): Shape {
  return {
    id: workflowId(`${run.owner}/${run.repo}`),
    name: run.repo,
    full_name: `${run.owner}/${run.repo}`,
    private: true,
    owner: { login: run.owner, id: workflowId(run.owner), type: "Organization" },
    url: `${world.url()}/github/repos/${run.owner}/${run.repo}`,
  };
}

export function userShape(): Shape {
  return { login: "headroom-sandbox", id: 1, type: "User", site_admin: false };
}

/** Derived from the name, so that it is the same in every run. */
export function workflowId(name: string): number {
  return parseInt(sha256(name).slice(0, 8), 16);
}
