/**
 * Two workspaces in one installation: Zebra, whose every name is a marker, and Globex, whose people try to find out about it. Hands out
 * Zebra's things, things of the same shape that nobody has, and Globex's own.
 *
 * Does not own: the calls (hostile-table.ts), nor what is asserted.
 */
import { oneOf, rowsOf, type Queryable } from "../../outbox/queries.ts";
import { channel, secretKey, signingSecret, team } from "../../inbound/slack/slack.ts";
import { createTestDatabase, type TestDatabase } from "../../../helpers/database.ts";
import { anonymous, memberSession, overHttp, type Session } from "../gateway.ts";
import type { EmbeddedVersion } from "../../../../src/db/embedded.ts";

/** Everything by which a workspace, or something in it, can be named. */
export interface Things {
  readonly workspace: string;
  readonly team: string;
  readonly channel: string;
  readonly member: string;
  readonly slackUser: string;
  readonly email: string;
  readonly group: string;
  readonly policy: string;
  readonly endpoint: string;
  readonly key: string;
  readonly request: string;
  readonly closed: string;
  readonly offered: string;
  readonly thread: string;
  readonly issue: string;
  readonly customer: string;
  readonly customerId: string;
  readonly customerKey: string;
  /** The id of a confirmation, made into a token under another secret. */
  readonly token: string;
  readonly event: string;
  readonly notification: string;
  readonly hash: string;
  /** Work of the workspace's own people in an open transaction while others call. */
  readonly endpointUnderWay: string;
  readonly keyUnderWay: string;
  readonly customerUnderWay: string;
}

/** The same shape as the others, but nobody's. */
export const absent: Things = {
  workspace: "nobody",
  team: "T0NOBODY",
  channel: "C0NOBODY",
  member: "nobody-ann",
  slackUser: "U0NOBODY1",
  email: "ann@nobody.example",
  group: "nobody-infra",
  policy: "nobody-large",
  endpoint: "nobody-hook",
  key: "nobody-key",
  request: "CR-1999-000001",
  closed: "CR-1999-000002",
  offered: "CR-1999-000003",
  thread: "1700000009.000009",
  issue: "99999999-9999-4999-8999-999999999999",
  customer: "Nobody Buyer",
  customerId: "nobody-org",
  customerKey: "8".repeat(64),
  token: forged("99999999-9999-4999-8999-999999999998"),
  event: "99999999-9999-4999-8999-999999999997",
  notification: "99999999-9999-4999-8999-999999999996",
  hash: "9".repeat(64),
  endpointUnderWay: "nobody-under-way",
  keyUnderWay: "nobody-key-under-way",
  customerUnderWay: "nobody-org-under-way",
};

function forged(tokenId: string): string {
  const id = Buffer.from(tokenId.replaceAll("-", ""), "hex");
  return Buffer.concat([id, Buffer.alloc(32, 7)]).toString("base64url");
}

/** Globex's callers, and an anonymous one. Rex has a namesake at Zebra. */
export const callers: Readonly<Record<string, Session>> = {
  admin: memberSession("hal", "globex"),
  requester: memberSession("rex", "globex"),
  operator: memberSession("opal", "globex"),
  auditor: memberSession("audrey", "globex"),
  anon: anonymous,
};

/** A database without any data yet. Call it while tests are collected. */
export async function cloneTwin(version: EmbeddedVersion): Promise<TestDatabase> {
  const db = await createTestDatabase({ version });
  await db.superuser.pool.query(`alter database ${db.name} set headroom.secret_key = '${secretKey}'`);
  return db;
}

interface Names {
  readonly id: string;
  readonly team: string;
  readonly channel: string;
  readonly domain: string;
  readonly slack: string;
  readonly endpoint: string;
  readonly thread: string;
  readonly issue: string;
}

const globex: Names = {
  id: "globex",
  team,
  channel,
  domain: "globex.example",
  slack: "U0GLOBEX",
  endpoint: "globex-hook",
  thread: "1700000001.000001",
  issue: "11111111-1111-4111-8111-111111111111",
};

const zebra: Names = {
  id: "zebra",
  team: "T0ZEBRA",
  channel: "C0ZEBRA",
  domain: "zebra.example",
  slack: "U0ZEBRA",
  endpoint: "zebra-hook",
  thread: "1700000002.000002",
  issue: "22222222-2222-4222-8222-222222222222",
};

/** People who are in both, under the same ids: names, Slack ids and addresses differ. */
const people = {
  hal: "admin",
  rex: "requester",
  opal: "operator",
  audrey: "auditor",
  cora: "commercial",
  tess: "requester",
};

async function directory(db: TestDatabase, names: Names): Promise<void> {
  const control = await db.as("headroom_control").connect();
  const put = (call: string, ...values: unknown[]) => rowsOf(control, `select ${call}`, values);
  await put("directory.put_workspace($1, $2)", names.id, {
    name: `${names.id} works`,
    public_url: `https://${names.domain}`,
    slack_team_id: names.team,
    slack_channel_id: names.channel,
    linear_team_id: `team-${names.id}`,
  });
  const ids = Object.entries({ ...people, [`${names.id}-ann`]: "admin" });
  for (const [index, [id, role]] of ids.entries()) {
    await put("directory.put_member($1, $2, $3)", names.id, id, {
      display_name: `${id} of ${names.id}`,
      email: `${id}@${names.domain}`,
      slack_user_id: `${names.slack}${index}`,
      roles: [role],
    });
  }
  for (const group of ["infra", `${names.id}-infra`]) {
    await put("directory.put_group($1, $2, $3, $4)", names.id, group, `${group} of ${names.id}`, ["tess"]);
  }
  for (const policy of ["large", `${names.id}-large`]) {
    await put("capacity.put_policy($1, $2, $3)", names.id, policy, {
      kind: "escalation",
      step: "commercial",
      min_monthly_cost_usd: names.id === "zebra" ? 10 : 100_000,
      approver_role: "admin",
      description: `${policy} of ${names.id}`,
    });
  }
  await put("directory.put_api_key($1, 'authenticated', $2, 'hal')", `${names.id}-key-id`, names.id);
  await put("directory.put_identity($1, 'hal', 'https://id.example', $2)", names.id, `${names.id}-subject`);
  await control.end();
  await overHttp(db, memberSession("hal", names.id), (client) =>
    rowsOf(client, "select public.put_endpoint($1, $2, '{capacity.*}', $3)", [
      names.endpoint,
      `https://${names.domain}/hook`,
      `the endpoint of ${names.id}`,
    ]),
  );
}

const create = `select (public.create_capacity_request($1, 'cora', 'infra', $2, '32XL', 4, 'us-east-1', null, 30, 500, 7, $3, null, $4,
                                                       p_justification => 'what ' || $3 || ' needs it for')).id`;

async function createAs(client: Queryable, names: Names, requester: string, key: string | null): Promise<string> {
  const customer = { org_id: `${names.id}-org`, name: `${names.id} buyer`, email: `buyer@${names.domain}` };
  return (await oneOf<{ id: string }>(client, create, [requester, customer, names.id, key])).id;
}

const apply = "select public.apply_capacity_event($1, $2, 'user', $3, $4)";

/** The workspace's first messages are claimed and not settled yet. */
async function claim(db: TestDatabase): Promise<void> {
  await rowsOf(
    db.as("headroom_executor").pool,
    `select outbox.claim(outbox.start_relay('twin'), (select stream_id from outbox.streams where name = 'capacity'), 1000, 100)`,
  );
}

async function firstRequest(db: TestDatabase, names: Names): Promise<string> {
  const client = db.superuser.pool;
  const id = await createAs(client, names, "rex", `${names.id}-key`);
  await rowsOf(client, "select public.note_capacity_request($1, $2, 'rex')", [id, `a note of ${names.id}`]);
  await claim(db);
  await rowsOf(
    client,
    `insert into outbox.captures (lane_id, name, value, outbox_id)
     select l.lane_id, c.name, to_jsonb(c.value), gen_random_uuid()
       from (values (':slack', 'slack_thread_ts', $2), (':linear', 'linear_issue_id', $3)) c(ending, name, value)
       join outbox.lanes l on l.key = $1 || c.ending`,
    [id, names.thread, names.issue],
  );
  await rowsOf(
    client,
    `select capacity.keep_captures(jsonb_build_array(
       jsonb_build_object('stream', 'capacity', 'rail', 'slack', 'key', $1 || ':slack',
                          'name', 'slack_thread_ts', 'value', to_jsonb($2::text)),
       jsonb_build_object('stream', 'capacity', 'rail', 'linear', 'key', $1 || ':linear',
                          'name', 'linear_issue_id', 'value', to_jsonb($3::text))))`,
    [id, names.thread, names.issue],
  );
  return id;
}

/** Two members of the workspace are notified; the others have namesakes. */
async function tell(db: TestDatabase, names: Names): Promise<string> {
  const notify = `select public.notify($1, $2, $3, $4, $5, $6, '{in-app,email}') as id`;
  const told = [
    `${names.id}-key`,
    `a title of ${names.id}`,
    `a body of ${names.id}`,
    `https://${names.id}.example/told`,
  ];
  await rowsOf(db.superuser.pool, notify, [names.id, "rex", ...told]);
  return (await oneOf<{ id: string }>(db.superuser.pool, notify, [names.id, `${names.id}-ann`, ...told])).id;
}

async function moreRequests(db: TestDatabase, names: Names): Promise<Pick<Things, "closed" | "offered">> {
  const client = db.superuser.pool;
  const closed = await createAs(client, names, "rex", null);
  await rowsOf(client, apply, [closed, "CANCEL_APPROVED", "rex", { reason: `a reason of ${names.id}` }]);
  const offered = await createAs(client, names, `${names.id}-ann`, null);
  await rowsOf(client, apply, [offered, "COMMERCIAL_APPROVED", names.id === "zebra" ? "hal" : "cora", {}]);
  await rowsOf(client, apply, [offered, "TECH_REVIEW_APPROVED", "tess", {}]);
  return { closed, offered };
}

async function secrets(db: TestDatabase): Promise<void> {
  const control = await db.as("headroom_control").connect();
  for (const [name, value] of [
    ["SLACK_SIGNING_SECRET", signingSecret],
    ["LINEAR_WEBHOOK_SECRET", "l".repeat(40)],
    ["CONFIRMATION_TOKEN_SECRET", "a secret for links, of 32 bytes or more"],
  ]) {
    await rowsOf(control, "select headroom.set_secret($1, $2)", [name, value]);
  }
  await control.end();
}

async function things(
  db: TestDatabase,
  names: Names,
  request: string,
  others: Pick<Things, "closed" | "offered">,
): Promise<Things> {
  const found = await oneOf<{ token: string; event: string; hash: string; key: string }>(
    db.superuser.pool,
    `select (select t.id from capacity.confirmation_tokens t where t.request_id = $2) as token, e.id as event, encode(e.hash, 'hex') as hash,
            encode(capacity.customer_key_of(e.request_id), 'hex') as key
       from capacity.events e where e.request_id = $1 and e.seq = 1`,
    [request, others.offered],
  );
  return {
    workspace: names.id,
    team: names.team,
    channel: names.channel,
    member: `${names.id}-ann`,
    slackUser: `${names.slack}1`,
    email: `${names.id}-ann@${names.domain}`,
    group: `${names.id}-infra`,
    policy: `${names.id}-large`,
    endpoint: names.endpoint,
    key: `${names.id}-key`,
    request,
    ...others,
    thread: names.thread,
    issue: names.issue,
    customer: `${names.id} buyer`,
    customerId: `${names.id}-org`,
    customerKey: found.key,
    token: forged(found.token),
    event: found.event,
    notification: await tell(db, names),
    hash: found.hash,
    endpointUnderWay: `${names.id}-under-way`,
    keyUnderWay: `${names.id}-key-under-way`,
    customerUnderWay: `${names.id}-org-under-way`,
  };
}

/** Globex as it is in each of the three, after Zebra was created and before it continues. Returns the things of both. */
export async function arrange(db: TestDatabase, zebraRequests: number): Promise<{ own: Things; theirs: Things }> {
  await secrets(db);
  let first = "";
  if (zebraRequests > 0) {
    await directory(db, zebra);
    first = await firstRequest(db, zebra);
  }
  await directory(db, globex);
  const request = await firstRequest(db, globex);
  const own = await things(db, globex, request, await moreRequests(db, globex));
  if (zebraRequests < 2) {
    await rowsOf(db.superuser.pool, "analyze");
    return { own, theirs: absent };
  }
  const theirs = await things(db, zebra, first, await moreRequests(db, zebra));
  const mass =
    "select public.create_capacity_request('rex', 'cora', 'infra', null, '32XL', 4, 'us-east-1', null, 30, 500, 7, 'zebra')";
  await rowsOf(db.superuser.pool, `${mass} from generate_series(1, $1)`, [zebraRequests - 3]);
  await rowsOf(db.superuser.pool, "analyze");
  return { own, theirs };
}

/** Where Zebra has rows, and how to recognise them. */
const zebraRows = `
select c.oid::regclass::text as name, string_agg(w.mine, ' or ') as mine
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and a.atttypid = 'text'::regtype
  join (values ('workspace_id', $$t.workspace_id = 'zebra'$$),
               ('request_id', $$t.request_id in (select r.id from capacity.requests r where r.workspace_id = 'zebra')$$),
               ('instruction_id', $$substring(t.instruction_id from '^CR-[0-9]+-[0-9]+') in (select r.id from capacity.requests r where r.workspace_id = 'zebra')$$),
               ('key', $$substring(t.key from 'CR-[0-9]+-[0-9]+') in (select r.id from capacity.requests r where r.workspace_id = 'zebra')$$),
               ('slack_team_id', $$t.slack_team_id = 'T0ZEBRA'$$), ('name', $$t.name = 'slack:C0ZEBRA'$$)) w(attname, mine) on w.attname = a.attname
 where c.relnamespace::regnamespace::text in ('outbox', 'webhooks', 'directory', 'notify', 'capacity', 'inbound') and c.relkind = 'r' and not c.relispartition
 group by c.oid order by 1`;

/** Locks every row of Zebra's until the transaction ends; rows in use by its people just now as far as possible. */
export async function lockZebra(client: Queryable): Promise<void> {
  for (const { name, mine } of await rowsOf<{ name: string; mine: string }>(client, zebraRows)) {
    await rowsOf(client, `select from ${name} t where ${mine} for update skip locked`);
    await rowsOf(client, `select from ${name} t where ${mine} for no key update`);
  }
}

/** Every row of Zebra's as it is now, by table. */
export async function zebraNow(client: Queryable): Promise<Record<string, unknown>> {
  const now: Record<string, unknown> = {};
  for (const { name, mine } of await rowsOf<{ name: string; mine: string }>(client, zebraRows)) {
    now[name] = await oneOf(
      client,
      `select count(*) as rows, md5(string_agg(t::text, ' ' order by t::text)) as content from ${name} t where ${mine}`,
    );
  }
  return now;
}
