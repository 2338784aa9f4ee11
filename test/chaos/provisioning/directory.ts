/**
 * The data of the stage: workspaces, their workflows and the secrets that sign callbacks and webhooks.
 */
import type { Client } from "pg";

export const callbackSecret = "a secret that runs of Acme sign their callbacks with";
export const githubWebhookSecret = "a secret that GitHub signs its webhooks with";
export const callbackPath = "/webhooks/provisioning";

/** $1: its id. */
const workspace = [
  "insert into directory.workspaces (id, name) values ($1, 'Acme')",
  `insert into directory.members (workspace_id, id, display_name, roles) values ($1, 'rita', 'Rita', '{requester}'),
     ($1, 'cora', 'Cora', '{commercial}'), ($1, 'tess', 'Tess', '{requester}'), ($1, 'otto', 'Otto', '{operator}')`,
  "insert into directory.groups (workspace_id, id, name) values ($1, 'infra', 'Infra')",
  "insert into directory.group_members (workspace_id, group_id, member_id) values ($1, 'infra', 'tess')",
] as const;

export async function fillDatabase(client: Client, headroomUrl: string, furtherWorkspaces: number): Promise<void> {
  await client.query(
    "update outbox.streams set lease_seconds = 6, backoff_base_ms = 100, backoff_cap_ms = 1000 where name = 'provisioning'",
  );
  for (const id of ["acme", ...Array.from({ length: furtherWorkspaces }, (_none, at) => `acme-${at + 1}`)]) {
    for (const statement of workspace) await client.query(statement, [id]);
    const repo = id === "acme" ? "infrastructure" : id;
    const settings = { owner: "acme", repo, callback_url: `${headroomUrl}${callbackPath}` };
    await client.query("select provisioning.put_settings($1, $2)", [id, JSON.stringify(settings)]);
    await client.query("select provisioning.put_secret($1, $2)", [id, callbackSecret]);
  }
  await client.query("select headroom.set_secret('GITHUB_WEBHOOK_SECRET', $1)", [githubWebhookSecret]);
}
