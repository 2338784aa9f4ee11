/**
 * Requests that wait for approval, in a workspace that posts to Slack, and two references that write the same rows as an approval.
 *
 * One request is really submitted, its first message is delivered, and it is approved. The others are copies of its earlier state, and the
 * references write the rows of that approval. So both follow the product when it changes; a test compares them table by table.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { ClientBase } from "pg";
import { createDrainer, type Rail } from "../src/outbox/index.ts";

export const DECIDERS = ["headroom", "one-function", "by-hand"] as const;
export type Decider = (typeof DECIDERS)[number];

const sqlFile = (name: string): string => fileURLToPath(new URL(`./sql/apply-${name}.sql`, import.meta.url));

/** The script with which each approves the next request. */
export const SCRIPTS: Readonly<Record<Decider, string>> = {
  headroom: sqlFile("event"),
  "one-function": sqlFile("one-call"),
  "by-hand": sqlFile("by-hand"),
};

const people = `
insert into directory.members (workspace_id, id, display_name, slack_user_id, roles) values
  ('default', 'ann', 'Ann', 'U0ANN', '{requester}'), ('default', 'bob', 'Bob', 'U0BOB', '{commercial}'), ('default', 'ida', 'Ida', 'U0IDA', '{requester}');
insert into directory.groups (workspace_id, id, name) values ('default', 'infra', 'Infra');
insert into directory.group_members (workspace_id, group_id, member_id) values ('default', 'infra', 'ida');
update directory.workspaces set slack_channel_id = 'C0123456' where id = 'default'`;

const slack: Rail = {
  name: "slack",
  capability: "lookup",
  timeoutMs: 10_000,
  send: () => ({ kind: "delivered", response: { ok: true, ts: "1767348000.000100" } }),
  lookup: () => ({ kind: "absent" }),
};

/** Submits a real request, and delivers its first message to a Slack that answers immediately. */
export async function submitDelivered(
  client: ClientBase,
  url: string,
  customer: Readonly<Record<string, string>> = { name: "Acme" },
): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    "select id from public.create_capacity_request('ann', 'bob', 'infra', $1, '32XL', 4, 'us-east-1', null, 30, 1000)",
    [JSON.stringify(customer)],
  );
  const drainer = createDrainer({ connectionString: url, rails: [slack], streams: ["capacity"] });
  try {
    const { delivered } = await drainer.drain();
    const id = rows[0]?.id;
    if (id === undefined || delivered !== 1)
      throw new Error("the request that the others are copied from was not delivered");
    return id;
  } finally {
    await drainer.close();
  }
}

const approveCall = "select public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'bob')";

/** Creates the people, and the functions that prepare the rest, in a migrated empty database. */
export async function prepareWorkspace(client: ClientBase): Promise<void> {
  await client.query("create schema bench");
  await client.query(people);
  for (const name of ["fill", "constants", "partitions"]) await client.query(await readFile(sqlFile(name), "utf8"));
}

/** The copies are CR-2000-000001 and so on. */
export async function copyRequest(client: ClientBase, model: string, count: number): Promise<void> {
  await client.query("select bench.copy_request($1, $2)", [model, count]);
}

/** Creates everything. `partitions`: how many hold the data that the archive keeps forever. */
export async function prepareApprovals(
  client: ClientBase,
  url: string,
  { requests, partitions }: { requests: number; partitions: number },
): Promise<void> {
  await prepareWorkspace(client);
  await client.query("select bench.age_archive($1)", [partitions]);
  const model = await submitDelivered(client, url);
  await copyRequest(client, model, requests);
  await client.query(approveCall, [model]);
  await client.query("select bench.keep_constants($1)", [model]);
  await client.query(await readFile(sqlFile("one-function"), "utf8"));
}
