/**
 * Linear's webhooks to an app: signed over their bytes with the time inside, for actions of people and of the app itself.
 */
import { hmacSha256 } from "../../db/hash.ts";
import type { OutgoingWebhook } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";
import type { Comment, Issue, LinearState, LinearUser } from "./state.ts";

export interface Change {
  readonly action: "create" | "update";
  readonly issue: Issue;
  /** If given, the comment that was made; otherwise the issue changed. */
  readonly comment?: Comment;
  readonly updatedFrom?: Readonly<Record<string, unknown>>;
}

/** Linear waits five seconds, and retries after a minute, an hour and six hours. */
const timeoutMs = 5_000;
const repeatsMs = [60_000, 3_600_000, 21_600_000] as const;

export function signature(secret: string, body: string): string {
  return hmacSha256(secret, body);
}

/** Sends webhooks for changes made through the API too: real workspaces do, and an app must not treat them as new. */
export function echo(world: World, state: LinearState, change: Change): void {
  world.webhooks.dispatch(webhookOf(world, state, change, state.apiUser));
}

export function webhookOf(world: World, state: LinearState, change: Change, actor: LinearUser): OutgoingWebhook {
  const deliveryId = world.ids.uuid("linear-delivery");
  const type = change.comment === undefined ? "Issue" : "Comment";
  const at = world.now();
  const body = JSON.stringify({
    action: change.action,
    type,
    createdAt: new Date(at).toISOString(),
    actor: { id: actor.id, type: "user", name: actor.name, email: actor.email },
    data:
      change.comment === undefined ? issueData(world, state, change.issue) : commentData(change.comment, change.issue),
    ...(change.updatedFrom === undefined ? {} : { updatedFrom: change.updatedFrom }),
    url: change.issue.url,
    organizationId: state.organization.id,
    webhookTimestamp: at,
    webhookId: "3b1c9f50-0000-4000-8000-000000000001",
  });
  return {
    provider: "linear",
    title: `${type} ${change.action} ${change.issue.identifier}`,
    path: "/webhooks/linear",
    body,
    headers: () => ({
      "content-type": "application/json; charset=utf-8",
      "user-agent": "Linear-Webhook",
      "linear-delivery": deliveryId,
      "linear-event": type,
      "linear-timestamp": String(at),
      "linear-signature": signature(world.secrets.linearWebhookSecret, body),
    }),
    timeoutMs,
    retryAfterMs: repeatsMs,
  };
}

function issueData(world: World, state: LinearState, issue: Issue): Record<string, unknown> {
  const { linearTeam } = world.sampleData;
  const current = state.stateOf(issue);
  return {
    id: issue.id,
    createdAt: issue.createdAt,
    updatedAt: issue.updatedAt,
    number: issue.number,
    identifier: issue.identifier,
    title: issue.title,
    description: issue.description ?? null,
    priority: issue.priority,
    teamId: linearTeam.id,
    team: { id: linearTeam.id, key: linearTeam.key, name: linearTeam.name },
    stateId: issue.stateId,
    state:
      current === undefined ? null : { id: current.id, name: current.name, type: current.type, color: current.color },
    creatorId: issue.creator.id,
    labelIds: [],
    url: issue.url,
  };
}

function commentData(comment: Comment, issue: Issue): Record<string, unknown> {
  return {
    id: comment.id,
    createdAt: comment.createdAt,
    updatedAt: comment.createdAt,
    body: comment.body,
    issueId: issue.id,
    userId: comment.user.id,
    parentId: comment.parentId ?? null,
    issue: { id: issue.id, title: issue.title, identifier: issue.identifier, url: issue.url },
    user: { id: comment.user.id, name: comment.user.name, email: comment.user.email },
    reactionData: [],
  };
}
