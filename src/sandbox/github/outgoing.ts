/**
 * GitHub's `workflow_run` webhooks: signed over their bytes, sent once, and never retried automatically.
 */
import { hmacSha256 } from "../../db/hash.ts";
import type { World } from "../core/world.ts";
import { repositoryShape, runShape, userShape, workflowShape } from "./shapes.ts";
import type { WorkflowRun } from "./state.ts";

const timeoutMs = 10_000;

export function signature(secret: string, body: string): string {
  return `sha256=${hmacSha256(secret, body)}`;
}

export function tell(world: World, action: "requested" | "in_progress" | "completed", run: WorkflowRun): void {
  const delivery = world.ids.uuid("github-delivery");
  const body = JSON.stringify({
    action,
    workflow_run: runShape(world, run),
    workflow: workflowShape(run.workflow),
    repository: repositoryShape(world, run),
    sender: userShape(),
  });
  world.webhooks.dispatch({
    provider: "github",
    title: `workflow_run ${action} ${run.title}`,
    path: "/webhooks/github",
    body,
    headers: () => ({
      "content-type": "application/json",
      "user-agent": "GitHub-Hookshot/sandbox",
      "x-github-event": "workflow_run",
      "x-github-delivery": delivery,
      "x-github-hook-id": "1",
      "x-hub-signature-256": signature(world.secrets.githubWebhookSecret, body),
    }),
    timeoutMs,
  });
}
