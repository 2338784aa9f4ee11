/**
 * Runs one approval in the migrated database and reports its path: each function, and each statement with the tables that it used,
 * from the server's own statistics and plans. Everything is rolled back.
 *
 * Owns: the walk. Does not own: the page that is made from it.
 */
import type { Client } from "pg";
import { z } from "zod";

export interface Statement {
  /** The function that ran it, and its callers, innermost first. */
  readonly stack: readonly string[];
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly locks: boolean;
}

export interface DecisionWalk {
  /** The functions that were called, by schema and name. */
  readonly passed: ReadonlySet<string>;
  readonly statements: readonly Statement[];
}

const people = `
insert into directory.members (workspace_id, id, display_name, slack_user_id, roles) values
  ('default', 'ann', 'Ann', 'U0ANN', '{requester}'), ('default', 'bob', 'Bob', 'U0BOB', '{commercial}'), ('default', 'ida', 'Ida', 'U0IDA', '{requester}');
insert into directory.groups (workspace_id, id, name) values ('default', 'infra', 'Infra');
insert into directory.group_members (workspace_id, group_id, member_id) values ('default', 'infra', 'ida');
update directory.workspaces set slack_channel_id = 'C0123456' where id = 'default';
select set_config('walk.request', r.id, true)
  from public.create_capacity_request('ann', 'bob', 'infra', '{"name": "Acme", "email": "buyer@acme.example"}', '32XL', 4, 'us-east-1', null, 30, 1000) r`;

const watched = `
load 'auto_explain';
set local auto_explain.log_min_duration = 0;
set local auto_explain.log_nested_statements = on;
set local auto_explain.log_verbose = on;
set local auto_explain.log_format = json;
set local auto_explain.log_level = notice;
set local track_functions = 'all'`;

const claims = { role: "authenticated", app_metadata: { workspace_id: "default", member_id: "bob" } };
const approval =
  "select public.apply_capacity_event(current_setting('walk.request'), 'COMMERCIAL_APPROVED', 'user', 'bob')";

/** The first approval of a request that has a thread in Slack and a customer with an address, by a member who is signed in. */
export async function walkDecision(client: Client): Promise<DecisionWalk> {
  const notices: { readonly message: string; readonly where: string }[] = [];
  const keep = ({ message, where }: { message?: string | undefined; where?: string | undefined }): void => {
    if (message !== undefined && where !== undefined) notices.push({ message, where });
  };
  await client.query("begin");
  try {
    await client.query(people);
    await client.query(watched);
    await client.query("set local session authorization headroom_gateway");
    await client.query("select set_config('request.jwt.claims', $1, true), set_config('role', 'authenticated', true)", [
      JSON.stringify(claims),
    ]);
    client.on("notice", keep);
    await client.query(approval);
    client.off("notice", keep);
    await client.query("reset session authorization");
    const { rows } = await client.query<{ name: string }>(
      "select schemaname || '.' || funcname as name from pg_stat_xact_user_functions",
    );
    return {
      passed: new Set(rows.map(({ name }) => name)),
      statements: notices.flatMap(({ message, where }) => statementOf(message, where)),
    };
  } finally {
    client.off("notice", keep);
    await client.query("rollback");
  }
}

interface Node {
  readonly "Node Type": string;
  readonly Operation?: string | undefined;
  readonly Schema?: string | undefined;
  readonly "Relation Name"?: string | undefined;
  readonly Plans?: readonly Node[] | undefined;
}

const nodeOf: z.ZodType<Node> = z.lazy(() =>
  z.object({
    "Node Type": z.string(),
    Operation: z.string().optional(),
    Schema: z.string().optional(),
    "Relation Name": z.string().optional(),
    Plans: z.array(nodeOf).optional(),
  }),
);
const logged = z.object({ "Query Text": z.string(), Plan: nodeOf });

/** Not the statements that the server runs to check a foreign key. */
function statementOf(message: string, where: string): Statement[] {
  const begin = message.indexOf("{");
  if (!message.startsWith("duration:") || begin === -1) return [];
  const { "Query Text": text, Plan: plan } = logged.parse(JSON.parse(message.slice(begin)));
  if (/\bfrom only "/i.test(text)) return [];
  const nodes = nodesOf(plan);
  const writes = tables(nodes.filter(({ Operation: operation }) => operation !== undefined));
  return [
    {
      stack: [...where.matchAll(/^(?:PL\/pgSQL|SQL) function "?([a-z_]+\.[a-z_]+)/gm)].map(([, name = ""]) => name),
      reads: tables(nodes.filter(({ Operation: operation }) => operation === undefined)).filter(
        (table) => !writes.includes(table),
      ),
      writes,
      locks: nodes.some(({ "Node Type": type }) => type === "LockRows"),
    },
  ];
}

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

const tables = (nodes: readonly Node[]): string[] =>
  [
    ...new Set(
      nodes.flatMap(({ Schema: schema, "Relation Name": name }) =>
        name === undefined || schema === undefined || schema === "pg_catalog" ? [] : [`${schema}.${name}`],
      ),
    ),
  ].toSorted();
