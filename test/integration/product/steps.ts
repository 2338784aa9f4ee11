/**
 * Stops a call at any of the rows that it writes, so that another call runs into it exactly there. First finds out which rows a call locks,
 * and in which order, so that only calls with two in common are tried against each other.
 *
 * A deadlock of two needs one that holds something and wants something else, which the other already holds. So one call is stopped each
 * time it has locked one more of what both lock, the other goes as far as it can, and then the first continues: where their orders differ,
 * they meet.
 *
 * Does not own: which calls there are, nor what is asserted.
 */
import type { ClientBase } from "pg";
import type { TestClient, TestDatabase, TestRole } from "../../helpers/database.ts";
import { rowsOf } from "../outbox/queries.ts";
import type { Call } from "./call.ts";
import { beginAs, loginOf, statementOf, type Exposed } from "./calling.ts";

/** Triggers on every table of ours; a session can ask to be stopped by the n-th row that fires them, or to have the rows recorded. */
const triggers = `
create schema steps;
create table steps.taken (n integer, op text, keys text[]);
create function steps.keys_of(p_row jsonb, p_relation text, p_uniques jsonb, p_parents jsonb) returns text[]
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select array(
    select k.key
      from (select format('%s%s', p_relation, jsonb_agg(jsonb_build_array(c, p_row -> c) order by c)) as key, bool_and(p_row -> c <> 'null') as whole
              from jsonb_array_elements(p_uniques) with ordinality u(columns, n), jsonb_array_elements_text(u.columns) c group by u.n
            union all
            select format('~%s%s', f.parent ->> 'relation', jsonb_agg(jsonb_build_array(r.name, p_row -> l.name) order by r.name)),
                   bool_and(p_row -> l.name <> 'null')
              from jsonb_array_elements(p_parents) with ordinality f(parent, n),
                   jsonb_array_elements_text(f.parent -> 'columns') with ordinality l(name, n)
              join lateral jsonb_array_elements_text(f.parent -> 'named') with ordinality r(name, n) on r.n = l.n
             group by f.n, f.parent) k where k.whole)
$$;
-- A stop is not cut short, not even inside a function with a short lock_timeout. Its lock belongs to the transaction: a session would keep
-- one that was granted at the moment at which the wait failed, and whoever stops the next call would wait for it forever.
create function steps.step() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = 0 as $$
declare
  v_at integer := nullif(current_setting('steps.pause_at', true), '')::integer;
  v_n integer;
begin
  if v_at is not null then
    v_n := coalesce(nullif(current_setting('steps.n', true), ''), '0')::integer + 1;
    perform set_config('steps.n', v_n::text, true);
    if v_at = 0 then
      insert into steps.taken values (v_n, tg_op, case when tg_level = 'ROW' then
        steps.keys_of(case when tg_op = 'INSERT' then to_jsonb(new) else to_jsonb(old) end, tg_argv[0], tg_argv[1]::jsonb, tg_argv[2]::jsonb) end);
    elsif v_n = v_at then
      raise notice 'steps: stopped';
      perform pg_advisory_xact_lock_shared(4711);
    end if;
  end if;
  if tg_level = 'STATEMENT' then
    return null;
  elsif tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;
create table steps.tables as
select c.oid, c.oid::regclass::text as name,
       (select coalesce(jsonb_agg(u.columns), '[]')
          from (select (select jsonb_agg(a.attname) from unnest(i.indkey::smallint[]) k(n) join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n) as columns
                  from pg_index i where i.indrelid = c.oid and i.indisunique and i.indexprs is null) u) as uniques,
       (select coalesce(jsonb_agg(jsonb_build_object('relation', f.confrelid::regclass::text,
                 'columns', (select jsonb_agg(a.attname order by k.o) from unnest(f.conkey) with ordinality k(n, o) join pg_attribute a on a.attrelid = c.oid and a.attnum = k.n),
                 'named', (select jsonb_agg(a.attname order by k.o) from unnest(f.confkey) with ordinality k(n, o) join pg_attribute a on a.attrelid = f.confrelid and a.attnum = k.n))), '[]')
          from pg_constraint f where f.conrelid = c.oid and f.contype = 'f') as parents
  from pg_class c
 where pg_get_userbyid(c.relowner) = 'headroom_owner' and c.relkind in ('r', 'p') and not c.relispartition;
do $$
declare
  v record;
begin
  for v in select * from steps.tables loop
    execute format('create trigger a_step_rows before insert or update or delete on %s for each row execute function steps.step(%L, %L, %L)', v.name, v.name, v.uniques, v.parents);
    execute format('create trigger a_step before insert or update or delete on %s for each statement execute function steps.step()', v.name);
  end loop;
end
$$;
-- What a backend has taken at this moment, so that nobody can write it. A key that is only referred to can be. Who has locked rows of a table
-- has locked the table too, so the others are not searched.
create function steps.locked(p_pid integer) returns setof text language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v record;
begin
  for v in
    select t.* from steps.tables t
     where t.oid in (select coalesce(pg_partition_root(l.relation), l.relation) from pg_locks l
                      where l.pid = p_pid and l.locktype = 'relation' and l.mode <> 'AccessShareLock')
  loop
    return query execute format(
      'with free as materialized (select t.tableoid, t.ctid as tid from %1$s t for no key update skip locked)
       select unnest(steps.keys_of(to_jsonb(t), %1$L, %2$L, %3$L)) from %1$s t
        where (t.tableoid, t.ctid) not in (select f.tableoid, f.tid from free f)', v.name, v.uniques, '[]');
  end loop;
end
$$;
grant usage on schema steps to public;
grant select on steps.taken to public;
`;

interface Step {
  readonly n: number;
  readonly op: string;
  readonly keys: readonly string[] | null;
}

/** What a call locks: each row that it writes, what it only locks, and what it refers to, which must not be deleted meanwhile. */
export interface Trace {
  readonly call: Call;
  readonly steps: readonly Step[];
  readonly locked: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
  readonly referred: ReadonlySet<string>;
}

export interface Meeting {
  readonly first: Trace;
  readonly second: Trace;
  readonly pauseAt: number;
}

/** For two calls that lock many things in common, a few places show the order as well as all of them. */
const maxPlaces = 4;

const both = (one: ReadonlySet<string>, other: ReadonlySet<string>): string[] =>
  [...one].filter((key) => other.has(key));

/** Where the first is stopped for the second to run into it: each time it holds one more thing that both lock, while it wants another. */
export function meetingsOf(first: Trace, second: Trace): Meeting[] {
  const shared = new Set([
    ...both(first.taken, second.taken),
    ...both(first.taken, second.referred),
    ...both(first.referred, second.taken),
  ]);
  if (shared.size < 2) return [];
  const locked = both(first.locked, shared);
  const held = new Set(locked);
  // By what was locked last: of many rows of one table the first place and the last are enough, and any order but one shows there.
  const places: { readonly of: string; readonly n: number }[] = [];
  let of = "";
  for (const [place, { n, op, keys }] of first.steps.entries()) {
    const here = (keys ?? []).map(bare).filter((key) => shared.has(key));
    const take = (): void => {
      for (const key of here.filter((each) => !held.has(each))) of = key.slice(0, key.indexOf("["));
      for (const key of here) held.add(key);
    };
    // The row of an update or a deletion is locked before its trigger fires; an inserted key is not locked yet.
    if (op !== "INSERT") take();
    const wants = first.steps
      .slice(place)
      .some((step) => step.keys?.some((key) => shared.has(bare(key)) && !held.has(bare(key))));
    if (held.size > 0 && (wants || locked.length > 0)) places.push({ of, n });
    take();
  }
  const turns = places.filter(
    ({ of: each }, place) => places[place - 1]?.of !== each || places[place + 1]?.of !== each,
  );
  const every = Math.ceil(turns.length / maxPlaces);
  return turns
    .filter((_, place) => place % every === 0 || place === turns.length - 1)
    .map(({ n }) => ({ first, second, pauseAt: n }));
}

/** A key without the mark that it is only referred to. */
const bare = (key: string): string => key.replace("~", "");

/** One database, in which two calls at a time run into each other, and nothing that they do is committed. */
export class Crossing {
  readonly #db: TestDatabase;
  readonly #catalogue: ReadonlyMap<string, Exposed>;
  readonly #clients = new Map<string, TestClient>();

  private constructor(db: TestDatabase, catalogue: ReadonlyMap<string, Exposed>) {
    this.#db = db;
    this.#catalogue = catalogue;
  }

  static async open(db: TestDatabase, catalogue: ReadonlyMap<string, Exposed>): Promise<Crossing> {
    const client = await db.superuser.connect();
    await client.query(triggers);
    // A deadlock is detected immediately, and who waits for a lock is told so: nobody has to look. The server's log would have it as well.
    for (const setting of [
      "deadlock_timeout = '1ms'",
      "log_lock_waits = on",
      "client_min_messages = log",
      "log_min_messages = fatal",
    ])
      await client.query(`alter database ${db.name} set ${setting}`);
    await client.end();
    return new Crossing(db, catalogue);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.end()));
  }

  async #client(side: string, login: TestRole = "postgres"): Promise<TestClient> {
    const name = `${side} ${login}`;
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const client = await this.#db.as(login).connect();
    client.once("end", () => this.#clients.delete(name));
    this.#clients.set(name, client);
    return client;
  }

  /** Makes the call up to its commit; returns the SQLSTATE if it failed. */
  async #make(client: ClientBase, call: Call, pauseAt: number | null, end = ""): Promise<string | null> {
    try {
      await beginAs(client, call, pauseAt === null ? {} : { "steps.pause_at": String(pauseAt) });
      const { text, values } = statementOf(call, this.#catalogue.get(call.of)!);
      await rowsOf(client, text, values);
      await client.query(`set constraints all immediate${end}`);
      return null;
    } catch (error) {
      return (error as { code?: string }).code ?? String(error);
    }
  }

  /** Makes the call, and rolls it back. */
  async #try(client: ClientBase, call: Call, pauseAt: number | null): Promise<string | null> {
    const code = await this.#make(client, call, pauseAt, "; rollback");
    if (code !== null) await client.query("rollback");
    return code;
  }

  /** What the call locks when nothing blocks it. */
  async trace(call: Call): Promise<Trace> {
    const client = await this.#client("first", loginOf(call));
    const look = await this.#client("look");
    const code = await this.#make(client, call, 0);
    // If it failed, no lock is held any more, and nothing is known.
    if (code !== null) {
      await client.query("rollback");
      return { call, steps: [], locked: new Set(), taken: new Set(), referred: new Set() };
    }
    await client.query("set local role none");
    const steps = await rowsOf<Step>(client, "select n, op, keys from steps.taken order by n");
    await look.query("begin");
    const held = await rowsOf<{ key: string }>(look, "select steps.locked($1) as key", [client.pid]);
    await look.query("rollback");
    await client.query("rollback");
    const keys = steps.flatMap((step) => step.keys ?? []);
    const written = new Set(keys.filter((key) => !key.startsWith("~")));
    const locked = new Set(held.map(({ key }) => key).filter((key) => !written.has(key)));
    const referred = new Set(
      keys.filter((key) => key.startsWith("~") && !key.startsWith("~directory.workspaces")).map(bare),
    );
    return { call, steps, locked, taken: new Set([...written, ...locked]), referred };
  }

  /** Lets the second run into the first where that is stopped. Returns the SQLSTATEs with which they ended. */
  async meet({ first, second, pauseAt }: Meeting): Promise<readonly (string | null)[]> {
    const [one, two, look] = [
      await this.#client("first", loginOf(first.call)),
      await this.#client("second", loginOf(second.call)),
      await this.#client("look"),
    ];
    await look.query("begin; select pg_advisory_xact_lock(4711)");
    const firstEnds = this.#try(one, first.call, pauseAt);
    await untilTold(one, /^steps: stopped$/, firstEnds);
    const secondEnds = this.#try(two, second.call, null);
    await untilTold(two, /^process \d+ still waiting for /, secondEnds);
    await look.query("commit");
    return Promise.all([firstEnds, secondEnds]);
  }
}

/** Resolves when the server tells the client this while it works, or when it has ended. */
async function untilTold(client: ClientBase, words: RegExp, ended: Promise<unknown>): Promise<void> {
  const { promise: told, resolve } = Promise.withResolvers<undefined>();
  const hear = ({ message }: { readonly message?: string | undefined }): void => {
    if (words.test(message ?? "")) resolve(undefined);
  };
  client.on("notice", hear);
  await Promise.race([told, ended]);
  client.off("notice", hear);
}
