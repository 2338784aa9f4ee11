/**
 * Who can cause which outbox rows, through which function, to which stream and by which rail: found in the catalogue, and then tried by
 * each role with everything there is. The result is compared with ways-in.golden.txt, every line of which a person has read. After an
 * intended change: `npx vitest run -u test/integration/product/ways-in.test.ts`, and read the difference.
 */
import { expect, describe, test } from "vitest";
import type { TestRole } from "../../helpers/database.ts";
import { oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";
import { secretKey } from "../inbound/slack/slack.ts";

/**
 * Every function that leads to a new row, by calls, hooks and triggers, and the roles to which it, or a relation with such a trigger, was
 * granted.
 */
const waysIn = String.raw`
with recursive ours as (
  select p.oid, format('%s.%s', n.nspname, p.proname) as name, coalesce(p.proacl, acldefault('f', p.proowner)) as acl, p.proowner as owner,
         regexp_replace(p.prosrc, '--[^\n]*', '', 'g') as text
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace where pg_get_userbyid(p.proowner) = 'headroom_owner'
), triggers as (
  select c.relacl as acl, c.relowner as owner, format('%s.%s', n.nspname, c.relname) as relation, f.name as called
    from pg_trigger t join ours f on f.oid = t.tgfoid join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
), calls as (
  -- Texts in quotes are hints and messages.
  select o.name as caller, m[1] as called
    from ours o, regexp_matches(regexp_replace(o.text, '''[^'']*''', '', 'g'), '\m([a-z_]+\.[a-z_]+)\s*\(', 'g') m
   union
  select o.name, h.function_name
    from ours o, regexp_matches(o.text, 'run_hooks\(''([a-z._]+)''', 'g') m join headroom.hooks h on h.point = m[1]
   union
  select o.name, t.called
    from ours o, regexp_matches(o.text, '\m(?:insert into|update|delete from)\s+([a-z_]+\.[a-z_]+)', 'g') m
    join triggers t on t.relation = m[1]
), reaching as (
  select name from ours where text ~ 'insert into outbox\.payloads\M'
   union
  select c.caller from calls c join reaching r on r.name = c.called
), granted as (
  select 'call ' || r.name as way, x.grantee from reaching r join ours o using (name) cross join aclexplode(o.acl) x where x.grantee <> o.owner
   union
  select format('%s %s', lower(x.privilege_type), t.relation), x.grantee
    from triggers t join reaching r on r.name = t.called cross join aclexplode(t.acl) x
   where x.grantee <> t.owner and x.privilege_type in ('INSERT', 'UPDATE', 'DELETE')
)
select g.way, array_agg(distinct coalesce(r.rolname::text, 'everybody') order by coalesce(r.rolname::text, 'everybody')) as roles
  from granted g left join pg_roles r on r.oid = g.grantee group by g.way order by g.way`;

type Choice = "stream, rail and destination" | "type and source" | "channel";

/**
 * How to call the ways that leave one of these choices to the caller; c is what is tried, and c.id names it. A way that is not listed must
 * choose its stream and rail itself.
 */
const calls: Readonly<Record<string, { readonly chooses: Choice; readonly call: string }>> = {
  "call outbox.enqueue": {
    chooses: "stream, rail and destination",
    call: "perform outbox.enqueue(c.stream, 'k', c.id, 'x', c.rail, '{}', p_destination => c.destination)",
  },
  "call outbox.enqueue_many": {
    chooses: "stream, rail and destination",
    call: `perform outbox.enqueue_many(jsonb_build_array(jsonb_build_object('stream', c.stream, 'key', 'k', 'instruction_id', c.id,
      'idempotency_key', 'x', 'rail', c.rail, 'payload', '{}'::jsonb, 'destination', c.destination)))`,
  },
  "call payments.enqueue_payment_outbox": {
    chooses: "stream, rail and destination",
    call: "perform payments.enqueue_payment_outbox(c.id, 'k', 'x', c.rail, '{}')",
  },
  ...Object.fromEntries(
    ["ledger.outbox_ledger", "payments.outbox_transfers"].map((view) => [
      `insert ${view}`,
      {
        chooses: "type and source",
        call: `insert into ${view} (payload) values (jsonb_build_object(
          'specversion', '1.0', 'id', c.id, 'type', c.type, 'source', c.source, 'data', '{}'::jsonb))`,
      },
    ]),
  ),
  "call public.notify": {
    chooses: "channel",
    call: "perform public.notify('acme', c.member, c.id, 'A title', 'A body.', p_channels => array[c.channel])",
  },
  "insert public.notification_outbox": {
    chooses: "channel",
    call: `insert into public.notification_outbox (workspace_id, user_id, idempotency_key, title, body, channels)
      values ('acme', c.member, c.id, 'A title', 'A body.', array[c.channel])`,
  },
};

interface Candidate {
  readonly id: string;
  readonly stream?: string;
  readonly rail?: string;
  readonly destination?: string | null;
  readonly type?: string;
  readonly source?: string;
  readonly channel?: string;
  readonly member?: string;
}

/**
 * Every stream with every rail, and a destination of every kind; events in everybody's name; channels to a person with a webhook and
 * without.
 */
const everything = `
select (select jsonb_agg(jsonb_build_object('stream', s.name, 'rail', r.name, 'destination', d.name))
          from outbox.streams s, outbox.rails r,
               (select case when right(k.kind, 1) = ':' then k.kind || 'x' else k.kind end from outbox.reserved_kinds k
                 union all values ('shop:1'), (null)) d(name)
         -- A kind that is ours is refused whatever the rail.
         where r.name = 'of-the-shop' or d.name is null or d.name = 'shop:1') as "stream, rail and destination",
       (select jsonb_agg(jsonb_build_object('type', t, 'source', o))
          from unnest('{order.paid,capacity.request.completed,Headroom.ping}'::text[]) t, unnest('{/shop,/headroom,/headroom/acme}'::text[]) o)
         as "type and source",
       (select jsonb_agg(jsonb_build_object('channel', c, 'member', m))
          from (select channel from notify.channels union values ('direct')) k(c), unnest('{cora,carl}'::text[]) m) as "channel"`;

interface Way {
  readonly way: string;
  readonly roles: readonly string[];
}

interface Session {
  readonly login: TestRole;
  /** Set as PostgREST does. */
  readonly role?: string;
}

/** Logins by the name of the role to which something was granted. */
const sessions: Readonly<Record<string, Session>> = {
  everybody: { login: "authenticator" },
  anon: { login: "authenticator", role: "anon" },
  authenticated: { login: "authenticator", role: "authenticated" },
  service_role: { login: "authenticator", role: "service_role" },
  headroom_ingest: { login: "headroom_ingest" },
  headroom_executor: { login: "headroom_executor" },
  headroom_control: { login: "headroom_control" },
  headroom_auditor: { login: "headroom_auditor" },
  // Renamed at the end, like one below.
  login_headroom_auditor: { login: "headroom_auditor" },
};
const producer = "login_headroom_auditor";

/** Everything possible, line by line. */
const possible = `
select concat_ws(' | ', t.role, t.way, m.stream, m.rail,
                 string_agg(distinct coalesce(regexp_replace(m.destination, '[0-9a-f-]{36}', '…'), 'no destination'), ', '
                            order by coalesce(regexp_replace(m.destination, '[0-9a-f-]{36}', '…'), 'no destination')),
                 string_agg(distinct m.type, ', ' order by m.type)) as line
  from jsonb_to_recordset($1) t(id text, role text, way text)
  join (select case when r.instruction_id ~ '^/' then split_part(r.instruction_id, ' ', 2) else coalesce(n.idempotency_key, r.instruction_id) end as id,
               s.name as stream, l.name as rail, d.name as destination, r.payload ->> 'source' || ' ' || (r.payload ->> 'type') as type
          from outbox.payloads r
          join outbox.streams s using (stream_id) join outbox.rails l using (rail_id) left join outbox.destinations d using (destination_id)
          left join notify.parts p on p.delivery_id::text = r.instruction_id left join notify.notifications n on n.id = p.notification_id) m on m.id = t.id
 group by t.role, t.way, m.stream, m.rail order by 1`;

// Privileges are the same on every version, as outbox/inspect/privileges.test.ts shows.
describe("ways into the outbox", async () => {
  const workflow = await startWorkflow(18);
  const { db, superuser } = workflow;
  const control = db.as("headroom_control").pool;

  test("are those of the golden file, and lead where it says", async () => {
    await rowsOf(superuser, `alter database ${db.name} set headroom.secret_key = '${secretKey}'`);
    await rowsOf(superuser, "update directory.members set email = id || '@acme.example'");
    await rowsOf(
      superuser,
      "insert into notify.people (workspace_id, member_id, slack_webhook) values ('acme', 'carl', true)",
    );
    await rowsOf(
      control,
      "select outbox.create_stream('orders', p_ordered => true), outbox.create_stream('for-auditors', p_writers => '{headroom_auditor}')",
    );
    await rowsOf(control, "select outbox.register_rail('of-the-shop', 'idempotent', 1000)");
    for (const tenant of [null, "acme"])
      await rowsOf(
        control,
        `select webhooks.put_endpoint('hook', '{"url": "https://hook.example/", "topics": ["*"]}', p_tenant_id => $1)`,
        [tenant],
      );
    const candidates = await oneOf<Record<Choice, readonly Candidate[]>>(superuser, everything);

    const tried: { readonly id: string; readonly role: string; readonly way: string }[] = [];
    const tryAll = async (role: string, { login, role: taken }: Session, ways: readonly Way[]): Promise<void> => {
      const blocks = Object.entries(calls).map(([way, { chooses, call }], place) => {
        const isGranted = ways.some((each) => each.way === way && each.roles.includes(role));
        // A role that may not call it at all may not with any arguments.
        const all = candidates[chooses]
          .slice(0, isGranted ? undefined : 1)
          .map((each, n) => ({ ...each, id: `${role}/${place}/${n}` }));
        tried.push(...all.map(({ id }) => ({ id, role, way })));
        return `for c in select * from jsonb_to_recordset($json$${JSON.stringify(all)}$json$) r(id text, stream text, rail text, destination text, type text, source text, channel text, member text) loop
          begin ${call}; exception when others then null; end;
        end loop;`;
      });
      const client = await db.as(login).connect();
      await client.query("begin");
      if (taken !== undefined)
        await client.query("select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)", [
          taken,
          JSON.stringify({ role: taken }),
        ]);
      await client.query(`do $do$ declare c record; begin ${blocks.join("\n")} end $do$`);
      await client.query("commit");
      await client.end();
    };
    const before = await rowsOf<Way>(superuser, waysIn);
    const { [producer]: named, ...others } = sessions;
    for (const [role, session] of Object.entries(others)) await tryAll(role, session, before);
    await rowsOf(control, "select notify.add_producer($1, 'otto')", [producer]);
    const ways = await rowsOf<Way>(superuser, waysIn);
    await tryAll(producer, named!, ways);
    await rowsOf(control, "select public.notification_dispatcher()");

    expect([...new Set(ways.flatMap(({ roles }) => roles))].filter((role) => !(role in sessions))).toEqual([]);
    const own = ways.filter(({ way }) => !(way in calls));
    const text = [
      "# Ways in that choose stream and rail by themselves, and who may take them. A new one that leaves a choice to its caller belongs in the",
      "# table `calls` of ways-in.test.ts, which says how to call it.",
      ...own.map(({ way, roles }) => `${way} | ${roles.join(", ")}`),
      "",
      "# Where the others lead: role, way in, stream, rail, destinations, sources and types of events. What is not here was tried and refused.",
      ...(await rowsOf<{ line: string }>(superuser, possible, [JSON.stringify(tried)])).map(({ line }) => line),
      "",
    ].join("\n");
    await expect(text).toMatchFileSnapshot("ways-in.golden.txt");
  });
});
