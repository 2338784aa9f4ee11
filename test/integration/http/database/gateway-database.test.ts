/** The only way to the database: whom it acts for, what is left behind, and what happens when something fails. */
import { afterAll, describe, expect, it } from "vitest";
import { createGatewayDatabase, type TransactionOptions } from "../../../../src/http/database/gateway-database.ts";
import { functionsWithSecrets } from "../../../../src/http/database/secret-use.ts";
import { anonymous, memberSession, serviceSession } from "../../../../src/http/auth/session.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { startTransactionPooler } from "../../../helpers/transaction-pooler.ts";

const db = await createTestDatabase({ version: 17 });
await db.superuser.pool.query(`
  create table public.probe (id int primary key, note text);
  grant all on public.probe to anon, authenticated, service_role;
  create function public.gate() returns void language plpgsql as $$
  begin
    if current_setting('request.headers', true)::json->>'x-block' is not null then
      raise exception 'blocked' using errcode = 'PT403', detail = 'not_allowed';
    end if;
  end $$;
`);
const gateway = createGatewayDatabase({
  url: db.as("authenticator").url,
  maxConnections: 1,
  secretKey: "the key",
  preRequest: { schema: "public", name: "gate" },
});
afterAll(() => gateway.close());

const facts = { method: "POST", path: "/rpc/x", headers: { "x-a": "b" }, network: "203.0.113.7" };
const at = (path: string): TransactionOptions => ({ request: { ...facts, path } });
const blocked = { ...facts, headers: { "x-block": "1" } };
const whoText = `select current_user::text as "user", current_setting('role') as role, current_setting('request.jwt.claims', true) as claims,
  current_setting('request.method', true) as method, current_setting('request.headers', true) as headers,
  current_setting('headroom.client_network', true) as network, current_setting('headroom.secret_key', true) as secret`;

describe("a transaction", () => {
  it("runs as the session, with its claims and its request, and leaves nothing of them behind", async () => {
    const session = memberSession({ memberId: "rita", workspaceId: "acme", via: "web" });
    const rows = await gateway.transaction(session, async (client) => (await client.query(whoText)).rows, {
      request: facts,
    });
    expect(rows).toEqual([
      {
        user: "authenticated",
        role: "authenticated",
        claims: JSON.stringify(session.claims),
        method: "POST",
        headers: '{"x-a":"b"}',
        network: "203.0.113.7",
        secret: "",
      },
    ]);
    // The pool has one connection, so this is the same one.
    const after = await gateway.ask({ text: whoText });
    expect(after.rows).toEqual([
      { user: "authenticator", role: "none", claims: "", method: "", headers: "", network: "", secret: "" },
    ]);
  });

  it("is given the key to the secrets only where it may need one, and does not leave it behind", async () => {
    const secretIn = async (options: TransactionOptions): Promise<unknown> =>
      (await gateway.run(anonymous, [{ text: whoText }], options))[0]?.rows[0]?.["secret"];
    for (const path of ["/rpc/who_am_i", "/capacity_requests", "/handle_slack_webhook", "/webhooks/slack"]) {
      expect([path, await secretIn(at(path))]).toEqual([path, ""]);
    }
    for (const path of ["/rpc/handle_slack_webhook", "/rpc/decide_by_token", "/rpc/put_endpoint"]) {
      expect([path, await secretIn(at(path))]).toEqual([path, "the key"]);
    }
    expect(await secretIn({})).toBe("");
    expect(await secretIn({ secrets: true })).toBe("the key");
    expect(await secretIn({ ...at("/rpc/put_endpoint"), secrets: false })).toBe("");
    expect((await gateway.ask({ text: whoText })).rows[0]).toMatchObject({ secret: "" });
  });

  it("is given it for each exposed function that leads to a secret, and for no other", async () => {
    const { rows } = await db.superuser.pool.query<{ schema: string; name: string; source: string }>(
      "select pronamespace::regnamespace::text as schema, proname as name, prosrc as source from pg_proc where proowner = 'headroom_owner'::regrole",
    );
    const leading = new Set(rows.filter(({ source }) => source.includes("'headroom.secret_key'")));
    for (const callee of leading) {
      const call = `${callee.schema}.${callee.name}(`;
      for (const caller of rows) if (caller.source.includes(call)) leading.add(caller);
    }
    const exposed = [...leading].filter(({ schema }) => schema === "public").map(({ name }) => name);
    expect(exposed.toSorted()).toEqual([...functionsWithSecrets]);
  });

  it("that fails leaves nothing behind, of the session or in the database", async () => {
    const failing = gateway.transaction(serviceSession(), async (client) => {
      await client.query("insert into public.probe values (1, 'a')");
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    await expect(
      gateway.run(serviceSession(), [
        { text: "insert into public.probe values (1, 'a')" },
        { text: "insert into public.probe values (1, 'b')" },
      ]),
    ).rejects.toMatchObject({ sqlState: "23505" });
    expect((await gateway.ask({ text: whoText })).rows[0]).toMatchObject({ user: "authenticator", role: "none" });
    expect((await db.superuser.pool.query("select * from public.probe")).rows).toEqual([]);
  });

  it("commits what went well", async () => {
    await gateway.run(anonymous, [{ text: "insert into public.probe values ($1, $2)", values: [7, "kept"] }]);
    expect((await db.superuser.pool.query("select note from public.probe where id = 7")).rows).toEqual([
      { note: "kept" },
    ]);
  });

  it("reports failures that only the commit raises", async () => {
    await db.superuser.pool.query(`
      create table public.late (probe int references public.probe deferrable initially deferred);
      grant all on public.late to anon`);
    await expect(gateway.run(anonymous, [{ text: "insert into public.late values (999)" }])).rejects.toMatchObject({
      sqlState: "23503",
    });
    expect((await db.superuser.pool.query("select * from public.late")).rows).toEqual([]);
  });

  it("that is read-only cannot write", async () => {
    const writing = gateway.run(anonymous, [{ text: "insert into public.probe values (8, 'x')" }], { readOnly: true });
    await expect(writing).rejects.toMatchObject({ sqlState: "25006" });
  });

  it("is refused by the pre-request function before anything of it runs", async () => {
    const insert = { text: "insert into public.probe values (9, 'x')" };
    await expect(gateway.run(anonymous, [insert], { request: blocked })).rejects.toMatchObject({
      code: "not_allowed",
      httpStatus: 403,
    });
    let ran = false;
    const work = async (): Promise<void> => void (ran = true);
    await expect(gateway.transaction(anonymous, work, { request: blocked })).rejects.toThrow("blocked");
    expect(ran).toBe(false);
    expect((await db.superuser.pool.query("select * from public.probe where id = 9")).rows).toEqual([]);
  });

  it("with a role that does not exist runs nothing as the login", async () => {
    // oxlint-disable-next-line typescript/no-explicit-any -- a role that the types forbid
    const odd = { role: "nosuchrole", claims: {} } as any;
    await expect(gateway.run(odd, [{ text: "insert into public.probe values (10, 'x')" }])).rejects.toMatchObject({
      sqlState: "22023",
    });
  });
});

describe("a named statement", () => {
  const named = { name: "probe_one", text: "select $1::int / $2::int as value" };
  const ask = async (left: number, right: number) =>
    (await gateway.run(anonymous, [{ ...named, values: [left, right] }]))[0]?.rows;

  it("is prepared again when a failed batch may or may not have prepared it", async () => {
    await expect(ask(1, 0)).rejects.toMatchObject({ sqlState: "22012" });
    expect(await ask(4, 2)).toEqual([{ value: 2 }]);
    await expect(ask(1, 0)).rejects.toMatchObject({ sqlState: "22012" });
    expect(await ask(6, 2)).toEqual([{ value: 3 }]);
    const refused = gateway.run(anonymous, [{ name: "probe_two", text: "select 1 as one" }], { request: blocked });
    await expect(refused).rejects.toThrow("blocked");
    expect(await gateway.run(anonymous, [{ name: "probe_two", text: "select 1 as one" }])).toEqual([
      { rows: [{ one: 1 }] },
    ]);
  });

  it("can be done without, behind a pooler that does not support it", async () => {
    const plain = createGatewayDatabase({ url: db.as("authenticator").url, maxConnections: 1, prepare: false });
    await plain.run(anonymous, [{ ...named, values: [4, 2] }]);
    const kept = await plain.ask({ text: "select name from pg_prepared_statements" });
    expect(kept.rows).toEqual([]);
    await plain.close();
  });
});

it("an unreadable value fails its own call and nothing else", async () => {
  const huge = gateway.run(anonymous, [{ text: "select 9223372036854775807::int8 as huge" }]);
  await expect(huge).rejects.toThrow("too large");
  expect(await gateway.run(anonymous, [{ text: "select null as nothing" }])).toEqual([{ rows: [{ nothing: null }] }]);
});

it("works behind a pooler that gives every transaction another session", async () => {
  const pooler = await startTransactionPooler(db.as("authenticator").url);
  const pooled = createGatewayDatabase({ url: pooler.url, maxConnections: 2, prepare: false });
  try {
    for (let turn = 0; turn < 6; turn += 1) {
      const session = memberSession({ memberId: `m${turn}`, workspaceId: "acme" });
      const who = { text: "select current_user::text as who, current_setting('request.jwt.claims') as claims" };
      const expected = [{ who: "authenticated", claims: JSON.stringify(session.claims) }];
      expect((await pooled.run(session, [who]))[0]?.rows).toEqual(expected);
      expect(await pooled.transaction(session, async (client) => (await client.query(who.text)).rows)).toEqual(
        expected,
      );
      expect((await pooled.ask({ text: "select current_user::text as who" })).rows).toEqual([{ who: "authenticator" }]);
    }
  } finally {
    await pooled.close();
    await pooler.stop();
  }
});

it("has a timeout on every statement, even behind a pooler that refuses it at connection", async () => {
  const pooler = await startTransactionPooler(db.as("authenticator").url);
  const bound = { url: pooler.url, maxConnections: 2, prepare: false, statementTimeoutMs: 100 };
  const pooled = createGatewayDatabase(bound);
  const forever = { text: "select pg_sleep(600)" };
  try {
    const late = { code: "query_canceled", sqlState: "57014" };
    await expect(pooled.run(anonymous, [forever])).rejects.toMatchObject(late);
    await expect(pooled.ask(forever)).rejects.toMatchObject(late);
    await expect(pooled.transaction(anonymous, (client) => client.query(forever.text))).rejects.toMatchObject(late);
    const left = { text: "select current_setting('statement_timeout') as bound" };
    const outside = await db.as("authenticator").connect();
    expect((await outside.query(left.text)).rows).toEqual([{ bound: "0" }]);
    expect((await pooled.ask(left)).rows).toEqual([{ bound: "100ms" }]);
  } finally {
    await pooled.close();
    await pooler.stop();
  }
});

describe("a broken connection", () => {
  it("fails its request, and the next one gets another connection", async () => {
    const cut = gateway.transaction(anonymous, async (client) => {
      const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      await db.superuser.pool.query("select pg_terminate_backend($1)", [rows[0]?.pid]);
      await client.query("select 1");
    });
    await expect(cut).rejects.toMatchObject({ httpStatus: 503 });
    expect((await gateway.run(anonymous, [{ text: "select 1 as one" }]))[0]?.rows).toEqual([{ one: 1 }]);
  });

  it("does not reveal why the login failed", async () => {
    const url = new URL(db.as("authenticator").url);
    url.password = "wrong";
    const locked = createGatewayDatabase({ url: url.toString(), maxConnections: 1 });
    await expect(locked.run(anonymous, [{ text: "select 1" }])).rejects.toMatchObject({
      code: "database_unreachable",
      sqlState: undefined,
      message: "The database cannot be reached.",
    });
    await locked.close();
  });
});

const from = (network: string): TransactionOptions => ({ request: { ...facts, network } });
const of = (workspaceId: string, memberId = "rita") => memberSession({ memberId, workspaceId });

describe("connections", () => {
  const wait = { text: "select pg_advisory_xact_lock_shared(77)" };
  /** Another session holds what `wait` waits for, until it is released. */
  const hold = async (): Promise<() => Promise<void>> => {
    const holder = await db.superuser.connect();
    await holder.query("select pg_advisory_lock(77)");
    return () => holder.end();
  };
  const patient = {
    url: db.as("authenticator").url,
    maxConnections: 4,
    connectTimeoutMs: 60_000,
    statementTimeoutMs: 60_000,
  };

  it("are never all taken by one workspace, and waiting requests get one", async () => {
    const shared = createGatewayDatabase({ url: db.as("authenticator").url, maxConnections: 4 });
    const release = await hold();
    const busy = Array.from({ length: 9 }, () => shared.run(of("acme"), [wait]));
    for (const session of [of("globex"), serviceSession(), anonymous]) {
      expect((await shared.run(session, [{ text: "select 1 as one" }]))[0]?.rows).toEqual([{ one: 1 }]);
    }
    expect((await shared.ask({ text: "select 1 as one" })).rows).toEqual([{ one: 1 }]);
    await release();
    expect(await Promise.all(busy)).toHaveLength(9);
    await shared.close();
  });

  it("are waited for no longer than the bound, and a caller with too many running requests is told so", async () => {
    const shared = createGatewayDatabase({
      url: db.as("authenticator").url,
      maxConnections: 4,
      connectTimeoutMs: 1_000,
    });
    const release = await hold();
    const busy = ["rita", "rita", "rob"].map((name) => shared.run(of("acme", name), [wait]));
    await expect(shared.run(of("acme"), [wait])).rejects.toMatchObject({ code: "rate_limited", httpStatus: 429 });
    const others = shared.run(of("globex"), [wait]);
    await expect(shared.run(of("initech"), [wait])).rejects.toMatchObject({ httpStatus: 503 });
    await release();
    await Promise.all([...busy, others]);
    // None was lost: as many as before may run again.
    expect(await Promise.all(["a", "b", "c", "d"].map((name) => shared.run(of(name), [wait])))).toHaveLength(4);
    await shared.close();
  });

  it("are never all taken by one member of a workspace, whatever they call", async () => {
    const shared = createGatewayDatabase(patient);
    const release = await hold();
    const busy = Array.from({ length: 16 }, () => shared.run(of("acme"), [wait]));
    const text =
      "select count(*)::int as busy from pg_locks where locktype = 'advisory' and objid = 77 and not granted";
    const waiting = async (): Promise<unknown> => (await db.superuser.pool.query<{ busy: number }>(text)).rows[0]?.busy;
    while ((await waiting()) !== 2);
    expect((await shared.run(of("acme", "rob"), [{ text: "select 1 as one" }]))[0]?.rows).toEqual([{ one: 1 }]);
    expect(await waiting()).toBe(2);
    await release();
    expect(await Promise.all(busy)).toHaveLength(16);
    await shared.close();
  });

  it("are shared by network among anonymous callers", async () => {
    const shared = createGatewayDatabase(patient);
    const release = await hold();
    const busy = Array.from({ length: 16 }, () => shared.run(anonymous, [wait], from("203.0.113.7")));
    expect(await shared.run(anonymous, [{ text: "select 1" }], from("203.0.113.8"))).toHaveLength(1);
    await release();
    await Promise.all(busy);
    await shared.close();
  });

  it("are used by one member only for so long, who then waits to make up for it; others are not affected", async () => {
    const memberTime = { burst: 0.001, perSecond: 0.001 };
    const shared = createGatewayDatabase({ url: db.as("authenticator").url, maxConnections: 4, memberTime });
    const long = { text: "select count(*) from generate_series(1, 100000)" };
    await shared.run(of("acme"), [long]);
    await expect(shared.run(of("acme"), [long])).rejects.toMatchObject({
      code: "rate_limited",
      httpStatus: 429,
      hint: expect.stringMatching(/^Try again in \d+ s/),
    });
    for (const session of [of("acme", "rob"), of("globex"), serviceSession(), serviceSession(), anonymous]) {
      await shared.run(session, [long]);
    }
    await shared.close();
  });
});
