/**
 * What people of one workspace (an admin, a requester, an operator, an auditor) and anonymous users can find out about another: nothing.
 * They try every function and view that they reach according to the catalogue.
 *
 * Three installations look the same to Globex: one without Zebra, one where Zebra has one request, and one where it has a thousand.
 *
 * On PostgreSQL 15 and 17, `npm test` makes one call for each function and view that names something of Zebra's, and `npm run test:older`
 * makes all of them.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { secondTier } from "../../../helpers/clusters.ts";
import { everyVersion, POSTGRES_VERSIONS, type TestDatabase } from "../../../helpers/database.ts";
import { memberToken, startTestGateway } from "../../http/harness.ts";
import { rowsOf } from "../../outbox/queries.ts";
import { secretKey } from "../../inbound/slack/slack.ts";
import { enter, memberSession } from "../gateway.ts";
import { ask, prepareToMeasure, withoutMoments, withoutNamed, type Asking } from "./hostile-asking.ts";
import { fillProbe, probes, type Probe } from "./hostile-probes.ts";
import { functions } from "./hostile-table.ts";
import { views } from "./hostile-views.ts";
import { absent, arrange, callers, cloneTwin, lockZebra, zebraNow, type Things } from "./hostile-workspaces.ts";

interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const names = [...Object.keys(functions), ...Object.keys(views)];
const sorted = (values: Iterable<string>): string[] => [...values].toSorted();

const callersOf = ({ anybody }: Probe) => Object.entries(callers).filter(([caller]) => !anybody || caller === "anon");

/** Whether the argument is nothing but a thing; other uses of it would change what comes after it. */
const namesOneThing = (what: Probe["what"]): boolean => typeof what === "string" && /^\{[a-zA-Z]+\}$/.test(what);

/** For each function and view, the call that names nothing of others, and one that does. */
const oneOfEach: readonly Probe[] = names.flatMap((name) => {
  const [bare, ...others] = probes.filter(({ of }) => of === name);
  return [bare!, ...[others.find(({ what }) => namesOneThing(what)) ?? others[0]].filter((each) => each !== undefined)];
});

/** Lines that only one of the two has. */
const changed = (one: string, other: string): string[] => {
  const [these, those] = [one.split("\n"), other.split("\n")];
  return [
    ...these.filter((line) => !those.includes(line)).map((line) => `+ ${line}`),
    ...those.filter((line) => !these.includes(line)).map((line) => `- ${line}`),
  ];
};

const reachable = `
select p.proname as name, array(select coalesce(nullif(p.proargnames[n], ''), '$' || n) from generate_series(1, p.pronargs) n) as parts
  from pg_proc p
 where p.pronamespace = 'public'::regnamespace
   and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute'))
union all
select c.relname, array(select a.attname::text from pg_attribute a
                         where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.atttypid = 'text'::regtype)
  from pg_class c
 where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'v', 'm', 'f', 'p')
   and (has_table_privilege('anon', c.oid, 'select') or has_table_privilege('authenticated', c.oid, 'select'))`;

/** Everything of Zebra's that is not an ordinary word. */
const zebraIds = `
with r as (select r.id from capacity.requests r where r.workspace_id = 'zebra')
select id from r
union all select e.id::text from capacity.events e where e.request_id in (select id from r)
union all select encode(e.hash, 'hex') from capacity.events e where e.request_id in (select id from r)
union all select t.id::text from capacity.confirmation_tokens t where t.request_id in (select id from r)
union all select m.outbox_id::text from outbox.payloads m where substring(m.instruction_id from '^CR-[0-9]+-[0-9]+') in (select id from r)
union all select c.value from capacity.request_captures c where c.request_id in (select id from r)
union all select encode(c.customer_key, 'hex') from capacity.request_customers c where c.workspace_id = 'zebra'
union all select encode(m.mark, 'hex') from capacity.customer_marks m where m.workspace_id = 'zebra'
union all select n.id::text from notify.notifications n where n.workspace_id = 'zebra'
union all select d.id::text from notify.deliveries d where d.workspace_id = 'zebra'`;

const gatewayOf = (db: TestDatabase) => startTestGateway(db, { database: { secretKey } });

describe.each(secondTier ? POSTGRES_VERSIONS : everyVersion)("another workspace on PostgreSQL %i", async (version) => {
  const isWhole = POSTGRES_VERSIONS.includes(version);
  const tried = isWhole ? probes : oneOfEach;
  const twins: Readonly<Record<string, TestDatabase>> = {
    alone: await cloneTwin(version),
    small: await cloneTwin(version),
    large: await cloneTwin(version),
  };
  const large = twins["large"]!;
  const owns = new Map<TestDatabase, Things>();
  let own: Things;
  let theirs: Things;
  let ids: Set<string>;

  beforeAll(async () => {
    for (const [twin, requests] of Object.entries({ alone: 0, small: 1, large: isWhole ? 1000 : 100 })) {
      ({ own, theirs } = await arrange(twins[twin]!, requests));
      owns.set(twins[twin]!, own);
    }
    ids = new Set((await rowsOf<{ id: string }>(large.superuser.pool, zebraIds)).map(({ id }) => id));
  }, 120_000);

  /** What an answer reveals of Zebra that the caller did not say. */
  const leaksIn = (said: string): string[] => [
    ...(said.match(/[^"\s]*zebra[^"\s]*/gi) ?? []),
    ...(
      said.match(/CR-\d{4}-\d{6,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|\d{10}\.\d{6}/g) ?? []
    ).filter((id) => ids.has(id)),
  ];

  test("every function and view that an anonymous user or a member reaches has its lines in the table", async () => {
    const found = await rowsOf<{ name: string; parts: string[] }>(large.superuser.pool, reachable);
    const table = [
      ...Object.entries(functions).map(([name, { tries }]) => [name, sorted(Object.keys(tries))] as const),
      ...Object.entries(views).map(([name, columns]) => [name, sorted(Object.keys(columns))] as const),
    ];
    expect(Object.fromEntries(found.map(({ name, parts }) => [name, sorted(parts)]))).toEqual(
      Object.fromEntries(table),
    );
  });

  describe("while its people hold all of it locked", () => {
    let asking: Asking;

    beforeAll(async () => {
      const working = await large.as("authenticator").connect();
      await working.query("begin");
      await enter(working, memberSession("zebra-ann", "zebra"));
      await working.query("select public.put_endpoint($1, 'https://zebra.example/')", [theirs.endpointUnderWay]);
      await working.query(
        `select public.create_capacity_request(null, 'cora', 'infra', null, '32XL', 4, 'us-east-1', null, 30, p_idempotency_key => $1,
                                               p_customer_id => $2)`,
        [theirs.keyUnderWay, theirs.customerUnderWay],
      );
      const holding = await large.superuser.connect();
      await holding.query("begin");
      await lockZebra(holding);
      asking = { client: await large.as("authenticator").connect(), own };
      await prepareToMeasure(asking.client);
      // One plan for all, so that the work of two calls can be compared.
      await asking.client.query("set plan_cache_mode = force_generic_plan");
      return async () => {
        await holding.query("rollback");
        await working.query("rollback");
      };
    });

    test("is compared by what each call reads and writes", async () => {
      const probe = probes.find(({ of, argument }) => of === "note_capacity_request" && argument !== null)!;
      const { work } = await ask({ ...asking, measure: true }, callers["admin"]!, probe, own);
      expect(work).toContain("capacity.notices inserts: 1");
    });

    test.each(names)("looks to %s as if it did not exist", async (name) => {
      const found: unknown[] = [];
      for (const probe of tried.filter(({ of }) => of === name)) {
        // How much a view reads is up to the planner, and depends on what it finds.
        const how = { ...asking, measure: probe.kind === "function" && probe.argument !== null };
        for (const [caller, session] of callersOf(probe)) {
          const about = await ask(how, session, probe, theirs);
          // A call that names nothing is the same call.
          const nothing = probe.argument === null ? about : await ask(how, session, probe, absent);
          const leaks = leaksIn(about.said);
          if (leaks.length > 0) found.push({ caller, probe: probe.title, leaks });
          const [said, expected] = [withoutMoments(about.said), withoutMoments(nothing.said)];
          if (said !== expected) found.push({ caller, probe: probe.title, said, expected });
          let work = [about.work, nothing.work] as const;
          // The first call in a session also makes the plan, and so does one after a table was analysed meanwhile.
          for (let again = 0; again < 3 && work[0] !== work[1]; again += 1)
            work = [(await ask(how, session, probe, theirs)).work, (await ask(how, session, probe, absent)).work];
          if (work[0] !== work[1]) found.push({ caller, probe: probe.title, work: changed(...work) });
        }
      }
      expect(found).toEqual([]);
    });
  });

  describe("that exists or not, with one request or many", () => {
    const heard = new Map<string, Map<string, Set<string>>>(names.map((name) => [name, new Map()]));
    const leaks: unknown[] = [];

    beforeAll(async () => {
      for (const db of Object.values(twins)) {
        const mine = owns.get(db) ?? absent;
        const asking = { client: await db.as("authenticator").connect(), own: mine };
        const hear = async (caller: string, probe: Probe, whose: string, things: Things): Promise<void> => {
          const { said } = await ask(asking, callers[caller]!, probe, things);
          if (db === large && leaksIn(said).length > 0)
            leaks.push({ caller, probe: probe.title, leaks: leaksIn(said) });
          const line = `${caller}: ${probe.title} (${whose})`;
          const answers = heard.get(probe.of)!;
          answers.set(line, (answers.get(line) ?? new Set()).add(withoutMoments(said)));
        };
        for (const probe of tried) {
          for (const [caller] of callersOf(probe)) {
            if (probe.argument === null) await hear(caller, probe, "as usual", mine);
            // That the caller has the right at all is shown by the calls that name nothing.
            else if (caller !== "operator" && caller !== "auditor") {
              await hear(caller, probe, "nobody's", absent);
              await hear(caller, probe, "one's own", mine);
            }
          }
        }
      }
    }, 180_000);

    test.each(names)("changes no answer of %s", (name) => {
      const answers = [...heard.get(name)!];
      expect(answers.length).toBeGreaterThan(0);
      expect(answers.filter(([, said]) => said.size > 1).map(([line, said]) => [line, ...said])).toEqual([]);
    });

    test("reveals nothing of itself in them", () => {
      expect(leaks).toEqual([]);
    });
  });

  describe("over HTTP", async () => {
    const gateways = new Map<TestDatabase, Awaited<ReturnType<typeof gatewayOf>>>();
    for (const db of Object.values(twins)) gateways.set(db, await gatewayOf(db));
    let token: string;

    beforeAll(async () => {
      token = await memberToken("hal", "globex");
    });

    const send = async (db: TestDatabase, path: string, init: Sending = {}): Promise<string> => {
      const { url, keys } = gateways.get(db)!;
      const headers = { apikey: keys.anonKey, authorization: `Bearer ${token}`, ...init.headers };
      const response = await fetch(`${url}/rest/v1/${path}`, { ...init, headers });
      const range = response.headers.get("content-range");
      return `${response.status} ${range ?? ""} ${await response.text()}`;
    };

    test.each(["exact", "planned", "estimated"])("is in no count of rows: %s", async (kind) => {
      const said: string[] = [];
      for (const db of Object.values(twins)) {
        said.push(await send(db, "capacity_requests", { method: "HEAD", headers: { prefer: `count=${kind}` } }));
      }
      expect(said).toEqual(Object.keys(twins).map(() => "200 0-2/3 "));
    });

    const answerTo = async (probe: Probe, things: Things): Promise<string> => {
      const filled = fillProbe(probe, things, own);
      const query = [...filled.values].map(([name, value]) => `${name}=eq.${encodeURIComponent(String(value))}`);
      const said =
        probe.kind === "view"
          ? await send(large, `${probe.of}?${query.join("&")}`, { headers: { prefer: "count=exact" } })
          : await send(large, `rpc/${probe.of}`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify(Object.fromEntries(filled.values)),
            });
      return withoutNamed(said, filled);
    };

    test.each(names.filter((name) => !name.startsWith("handle_")))(
      "looks to %s as if it did not exist",
      async (name) => {
        const found: unknown[] = [];
        for (const probe of tried.filter(({ of, what }) => of === name && namesOneThing(what))) {
          const [about, nothing] = [await answerTo(probe, theirs), await answerTo(probe, absent)];
          const [said, expected] = [withoutMoments(about), withoutMoments(nothing)];
          if (leaksIn(about).length > 0 || said !== expected) found.push({ probe: probe.title, said, expected });
        }
        expect(found).toEqual([]);
      },
    );
  });

  describe("when calls are committed", () => {
    const superuser = large.superuser.pool;
    let before: Record<string, unknown>;
    const differs: unknown[] = [];

    beforeAll(async () => {
      before = await zebraNow(superuser);
      const asking = { client: await large.as("authenticator").connect(), own, keep: superuser };
      for (const probe of tried.filter(({ argument }) => argument !== null)) {
        const session = callers[probe.anybody ? "anon" : "admin"]!;
        const about = await ask(asking, session, probe, theirs);
        if (probe.of !== "handle_slack_webhook") continue;
        const nothing = await ask(asking, session, probe, absent);
        const [sent, expected] = [withoutMoments(about.sent), withoutMoments(nothing.sent)];
        if (sent !== expected || leaksIn(about.sent).length > 0) differs.push({ probe: probe.title, sent, expected });
      }
    });

    test("keeps what it has", async () => {
      expect(await zebraNow(superuser)).toEqual(before);
    });

    test("is written to by nobody else", async () => {
      const places = await rowsOf<{ place: string }>(
        superuser,
        `select concat_ws(' ', m.idempotency_key, d.name, m.payload ->> 'channel') as place
           from outbox.payloads m left join outbox.destinations d on d.destination_id = m.destination_id
          where substring(m.instruction_id from '^CR-[0-9]+-[0-9]+') not in (select r.id from capacity.requests r where r.workspace_id = 'zebra')`,
      );
      expect(places.length).toBeGreaterThan(10);
      expect(places.filter(({ place }) => /zebra/i.test(place))).toEqual([]);
    });

    test("is in no form or note that Slack is sent", () => {
      expect(differs).toEqual([]);
    });
  });

  test("what another stream captures under a request's key does not belong to the request", async () => {
    const superuser = large.superuser.pool;
    const captured = () => rowsOf(superuser, "select * from capacity.request_captures order by 1, 2");
    const before = await captured();
    await rowsOf(superuser, "select outbox.create_stream('shop')");
    for (const [ending, name] of [
      ["slack", "slack_thread_ts"],
      ["linear", "linear_issue_id"],
    ]) {
      await rowsOf(superuser, "select outbox.enqueue('shop', $1, 'order', $2, 'webhook', '{}')", [
        `${theirs.request}:${ending}`,
        name,
      ]);
      await rowsOf(
        superuser,
        `insert into outbox.captures (lane_id, name, value, outbox_id)
         select l.lane_id, $1, to_jsonb($2::text), gen_random_uuid()
           from outbox.lanes l join outbox.streams s on s.stream_id = l.stream_id and s.name = 'shop'
          where l.key = $3`,
        [name, own.thread, `${theirs.request}:${ending}`],
      );
      await rowsOf(
        superuser,
        `select capacity.keep_captures(jsonb_build_array(jsonb_build_object(
           'stream', 'shop', 'rail', $4::text, 'key', $3::text, 'name', $1::text, 'value', to_jsonb($2::text))))`,
        [name, own.thread, `${theirs.request}:${ending}`, ending],
      );
    }
    expect(
      await rowsOf(superuser, "select from outbox.captures c where c.value = to_jsonb($1::text)", [own.thread]),
    ).toHaveLength(3);
    expect(await captured()).toEqual(before);
  });
});
