/**
 * The database of the stage: migrated, with its workspaces, their workflows and the secrets that callbacks and webhooks are signed with.
 */
import { join } from "node:path";
import { Client } from "pg";
import { migrate } from "../../../src/db/migrate.ts";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { keepFewPartitions } from "../../helpers/clusters.ts";
import { ownCodeDir } from "../settings.ts";
import type { StageOptions } from "./stage.ts";

export const secretKey = "a key of thirty-two bytes or more for chaos";
export const callbackSecret = "a secret that runs of Acme sign their callbacks with";
export const githubWebhookSecret = "a secret that GitHub signs its webhooks with";
export const callbackPath = "/webhooks/provisioning";

const directory = `
update outbox.streams set lease_seconds = 6, backoff_base_ms = 100, backoff_cap_ms = 1000 where name = 'provisioning';
`;

/** $1: its id. */
const workspace = [
  "insert into directory.workspaces (id, name) values ($1, 'Acme')",
  `insert into directory.members (workspace_id, id, display_name, roles) values ($1, 'rita', 'Rita', '{requester}'),
     ($1, 'cora', 'Cora', '{commercial}'), ($1, 'tess', 'Tess', '{requester}'), ($1, 'otto', 'Otto', '{operator}')`,
  "insert into directory.groups (workspace_id, id, name) values ($1, 'infra', 'Infra')",
  "insert into directory.group_members (workspace_id, group_id, member_id) values ($1, 'infra', 'tess')",
] as const;

export async function prepareDatabase(
  url: string,
  headroomUrl: string,
  options: Pick<StageOptions, "codeDir" | "workspaces" | "afterMigration">,
): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await migrate(client, { sqlDir: join(options.codeDir ?? ownCodeDir, "sql") });
    await client.query(keepFewPartitions);
    await client.query(directory);
    await client.query("select set_config('headroom.secret_key', $1, false)", [secretKey]);
    const ids = ["acme", ...Array.from({ length: options.workspaces ?? 0 }, (_none, at) => `acme-${at + 1}`)];
    for (const id of ids) {
      for (const statement of workspace) await client.query(statement, [id]);
      const repo = id === "acme" ? "infrastructure" : id;
      const settings = { owner: "acme", repo, callback_url: `${headroomUrl}${callbackPath}` };
      await client.query("select provisioning.put_settings($1, $2)", [id, JSON.stringify(settings)]);
      await client.query("select provisioning.put_secret($1, $2)", [id, callbackSecret]);
    }
    const webhookSecret = { name: "GITHUB_WEBHOOK_SECRET", value: githubWebhookSecret, key: secretKey };
    const stored = await setSecret(client, webhookSecret);
    if (stored.outcome !== "stored") throw new Error(`GitHub's secret was not stored: ${JSON.stringify(stored)}`);
    if (options.afterMigration !== undefined) await client.query(options.afterMigration);
  } finally {
    await client.end();
  }
}
