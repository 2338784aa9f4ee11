/**
 * What was revoked is refused before every request, as PostgREST calls the check: a revoked key, and a browser session that began before
 * its member was signed out. The check ignores everything else in a token. And where PostgREST was not told to call a check before a
 * request, functions refuse themselves and views show nothing.
 */
import type { ClientBase } from "pg";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { enter, memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

const withClaims = (session: Session, claims: object): Session => ({
  role: session.role,
  claims: { ...(session.claims as object), ...claims },
});

const inBrowser = (member: string, since: unknown): Session =>
  withClaims(memberSession(member), { via: "web", signed_in_at: since });

describe.each(POSTGRES_VERSIONS)("what was revoked on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const control = db.as("headroom_control").pool;

  /** One request: the check first, then the work, in one transaction. */
  const ask = (session: Session, path = "/rpc/who_am_i"): Promise<unknown> =>
    overHttp(db, session, async (client) => {
      await client.query("select set_config('request.path', $1, true)", [path]);
      await client.query("select public.check_request()");
      return rowsOf(client, "select id from public.capacity_requests limit 1");
    });

  test.each([
    ["a member's key", "rita-laptop", memberSession("rita"), ["authenticated", "acme", "rita"]],
    ["a machine's key", "ci", service, ["service_role", null, null]],
  ] as const)("%s is valid until it is revoked, and then refused on every path", async (_what, id, session, key) => {
    const holder = withClaims(session, { key_id: id });
    await ask(holder);
    await rowsOf(control, "select directory.put_api_key($1, $2, $3, $4)", [id, ...key]);
    await ask(holder);
    await rowsOf(control, "select directory.revoke_api_key($1)", [id]);
    for (const path of ["/rpc/who_am_i", "/capacity_requests", "/", ""]) {
      expect([path, await codeOf(ask(holder, path))]).toEqual([path, "not_signed_in"]);
    }
    // Another key of the same holder, and a token without a key, are not affected.
    await ask(withClaims(session, { key_id: `${id}-2` }));
    await ask(session);
  });

  test("a browser session ends when its member is signed out, and a later one is valid", async () => {
    const { now } = await oneOf<{ now: number }>(
      workflow.superuser,
      "update directory.members set signed_out_at = now() where workspace_id = 'acme' and id = 'cora' returning extract(epoch from now())::float8 as now",
    );
    expect(await codeOf(ask(inBrowser("cora", Math.floor(now - 60))))).toBe("not_signed_in");
    expect(await codeOf(ask(withClaims(memberSession("cora"), { via: "web" })))).toBe("not_signed_in");
    expect(await codeOf(ask(inBrowser("cora", now)))).toBe("not_signed_in");
    await ask(inBrowser("cora", now + 60));
    await ask(inBrowser("cora", 1e300));
    // API keys are not sessions.
    await ask(memberSession("cora"));
    await ask(inBrowser("rita", now - 60));
  });

  test("a deeply nested or odd claim is not refused here, and admits nobody", async () => {
    for (const claims of ["[".repeat(50_000), '{"key_id": {"a": 1}}', '{"via": "web", "signed_in_at": "x"}', "", "7"]) {
      expect(await ask({ role: "authenticated", claims })).toEqual([]);
    }
  });

  describe("where nobody asks before a request", () => {
    /** What a gateway's role can read by name. */
    const readable = rowsOf<{ schema: string; name: string; kind: string; readers: string[]; definition: string }>(
      workflow.superuser,
      `select n.nspname as schema, c.relname as name, c.relkind as kind, array_agg(r.rolname::text order by 1) as readers,
              coalesce(pg_get_viewdef(case c.relkind when 'v' then c.oid end), '') as definition
         from pg_class c join pg_namespace n on n.oid = c.relnamespace
         join pg_roles r on r.rolname in ('anon', 'authenticated', 'service_role')
          and has_schema_privilege(r.oid, n.oid, 'usage') and has_any_column_privilege(r.oid, c.oid, 'select')
        where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^(pg_|information_schema$)'
        group by n.nspname, c.relname, c.relkind, c.oid order by 1, 2`,
    );
    const readFrom = async (client: ClientBase): Promise<number> => {
      const recent = "select jsonb_array_length(public.recent_capacity_events(0) -> 'events') as rows";
      let { rows } = await oneOf<{ rows: number }>(client, recent);
      for (const { name, readers } of await readable) {
        if (readers.includes("service_role")) rows += (await rowsOf(client, `select from public.${name}`)).length;
      }
      return rows;
    };
    /** All rows of all views, and of the function that runs with its caller's rights. */
    const seen = (session: Session): Promise<number> => overHttp(db, session, readFrom);
    /**
     * The same, where the policies apply to `service_role`, or do not. Roles belong to the whole server, so the change is rolled back; and
     * a connection keeps plans that were made for a role as it was, so each case has its own connection.
     */
    const seenWhere = async (attribute: "bypassrls" | "nobypassrls", session: Session): Promise<number> => {
      const client = await db.superuser.connect();
      try {
        await client.query(
          `begin; alter role service_role ${attribute}; set local session authorization authenticator`,
        );
        await enter(client, session);
        return await readFrom(client);
      } finally {
        await client.end();
      }
    };

    test("everything that a machine can read by name is a view that checks whether its key was revoked", async () => {
      const machines = (await readable).filter(({ readers }) => readers.includes("service_role"));
      expect(machines.length).toBeGreaterThan(9);
      for (const { schema, name, kind, definition } of machines) {
        expect([
          schema,
          name,
          kind,
          /\( SELECT\s+(CASE\s+WHEN )?directory\.reader_key_valid\(\)/.test(definition),
        ]).toEqual(["public", name, "v", true]);
      }
    });

    test("a member reads views only, and an anonymous user nothing", async () => {
      for (const { schema, name, kind, readers } of await readable) {
        expect([name, schema, kind, readers]).toEqual([name, "public", "v", expect.not.arrayContaining(["anon"])]);
      }
    });

    test.each(["bypassrls", "nobypassrls"] as const)(
      "a service_role with %s sees everything until its key is revoked",
      async (kind) => {
        await workflow.create();
        const holder = withClaims(service, { key_id: `as-${kind}` });
        await rowsOf(control, "select directory.put_api_key($1, 'service_role', null, null)", [`as-${kind}`]);
        expect(await seenWhere(kind, holder)).toBeGreaterThan(2);
        await rowsOf(control, "select directory.revoke_api_key($1)", [`as-${kind}`]);
        expect(await seenWhere(kind, holder)).toBe(0);
        expect(await seenWhere(kind, service)).toBeGreaterThan(2);
      },
    );

    /** What each function answers when it is called with meaningless arguments; those with another kind of credential are left out. */
    const answers = async (session: Session): Promise<Record<string, string>> => {
      const functions = await rowsOf<{ name: string; call: string }>(
        workflow.superuser,
        `select p.proname as name, format('select public.%I(%s)', p.proname,
                  (select string_agg(case t.typtype when 'e' then format('enum_first(null::%s)', t.oid::regtype) else 'null::' || t.oid::regtype end, ', ' order by a.n)
                     from unnest(p.proargtypes::oid[]) with ordinality a(type, n) join pg_type t on t.oid = a.type)) as call
           from pg_proc p
          where p.pronamespace = 'public'::regnamespace and has_function_privilege($1, p.oid, 'execute')
            and p.proowner = 'headroom_owner'::regrole and p.proname <> all ($2)`,
        [session.role, otherCredentials],
      );
      const said: Record<string, string> = {};
      for (const { name, call } of functions) {
        const asked = overHttp(db, session, (client) => rowsOf(client, call), { dryRun: true });
        said[name] = await asked.then(() => "done", refusalCode);
      }
      return said;
    };

    test.each([
      ["a member's key", "ada-laptop", memberSession("ada"), ["authenticated", "acme", "ada"]],
      ["a machine's key", "nightly", service, ["service_role", null, null]],
    ] as const)("%s that was revoked sees nothing and does nothing", async (_what, id, session, key) => {
      await workflow.create();
      const holder = withClaims(session, { key_id: id });
      await rowsOf(control, "select directory.put_api_key($1, $2, $3, $4)", [id, ...key]);
      expect(await seen(holder)).toBeGreaterThan(2);
      expect(Object.values(await answers(holder))).not.toContain("not_signed_in");
      await rowsOf(control, "select directory.revoke_api_key($1)", [id]);
      expect(await seen(holder)).toBe(0);
      expect(new Set(Object.values(await answers(holder)))).toEqual(new Set(["not_signed_in"]));
      expect(await seen(session)).toBeGreaterThan(2);
    });

    test("a machine whose key was revoked notifies nobody by an insert", async () => {
      const holder = withClaims(service, { key_id: "teller" });
      const tell = (key: string): Promise<unknown> =>
        overHttp(db, holder, (client) =>
          rowsOf(
            client,
            `insert into public.notification_outbox (workspace_id, user_id, idempotency_key, title, body)
             values ('acme', 'rita', $1, 'Title', 'Body') returning id`,
            [key],
          ),
        );
      await tell("before");
      await rowsOf(control, "select directory.revoke_api_key('teller')");
      expect(await codeOf(tell("after"))).toBe("not_signed_in");
    });

    test("a session whose member was signed out sees nothing and does nothing", async () => {
      const { now } = await oneOf<{ now: number }>(
        workflow.superuser,
        "update directory.members set signed_out_at = now() where workspace_id = 'acme' and id = 'ada' returning extract(epoch from now())::float8 as now",
      );
      await workflow.create();
      expect(await seen(inBrowser("ada", now + 60))).toBeGreaterThan(2);
      for (const at of [now - 60, "yesterday", null]) {
        expect([at, await seen(inBrowser("ada", at))]).toEqual([at, 0]);
        expect(new Set(Object.values(await answers(inBrowser("ada", at))))).toEqual(new Set(["not_signed_in"]));
      }
    });
  });
});

/** The code in the detail of a refusal; an error without one has another reason. */
function refusalCode(error: unknown): string {
  const { detail } = error as { detail?: string };
  return /^[a-z_]+(?=:|$)/.exec(detail ?? "")?.[0] ?? "other";
}

/** The check itself; links and signatures, which need no key; and what runs with its caller's rights. */
const otherCredentials = [
  "check_request",
  "describe_confirmation",
  "decide_by_token",
  "describe_unsubscribe",
  "unsubscribe",
  "resubscribe",
  "begin_draft",
  "describe_draft",
  "save_draft",
  "send_draft_link",
  "submit_draft",
  "begin_checkout",
  "get_checkout",
  "handle_slack_webhook",
  "handle_linear_webhook",
  "handle_github_webhook",
  "handle_stripe_webhook",
  "handle_provisioning_callback",
  "recent_capacity_events",
];
