/**
 * A clock that can be moved forward. The product reads time in its database, so there every function, default and view of the product reads
 * our clock, which is ahead by the value of a row. Stripe's stand-in has the same clock.
 *
 * The delivery engine keeps the machine's own time, as its relays do: when time passes, rows that wait there become due by as much (pass).
 */
import type { Client } from "pg";

/** The same for Stripe. */
export class Clock {
  aheadMs = 0;
  readonly now = (): number => Date.now() + this.aheadMs;
}

/** The schemas that deal in days and months. */
const schemas = "{billing,capacity,directory,inbound,notify,provisioning,public}";

const movable = String.raw`
create schema life;
create table life.clock (ahead interval not null);
insert into life.clock values ('0');
create function life.now() returns timestamptz language sql stable as 'select pg_catalog.now() + c.ahead from life.clock c';
create function life.clock_timestamp() returns timestamptz language sql volatile as
  'select pg_catalog.clock_timestamp() + c.ahead from life.clock c';
create function life.statement_timestamp() returns timestamptz language sql stable as
  'select pg_catalog.statement_timestamp() + c.ahead from life.clock c';
grant usage on schema life to public;
grant select on life.clock to public;

-- The same text, with our clock in the place of the machine's.
create function life.moved(p_text text) returns text language sql immutable as $$
  select regexp_replace(p_text, '(?<![\w.])(pg_catalog\.)?(now|clock_timestamp|statement_timestamp)\(\)', 'life.\2()', 'g')
$$;
create function life.move_functions() returns void language plpgsql as $$
declare
  v_text text;
begin
  for v_text in
    select life.moved(pg_get_functiondef(p.oid)) from pg_proc p
     where p.pronamespace::regnamespace::text = any ('${schemas}') and p.prokind in ('f', 'p') and p.prosrc <> life.moved(p.prosrc)
  loop
    execute v_text;
  end loop;
end $$;
create function life.move_views() returns void language plpgsql as $$
declare
  v_view record;
begin
  for v_view in
    select c.oid::regclass as name, life.moved(pg_get_viewdef(c.oid)) as text, array_to_string(c.reloptions, ', ') as options
      from pg_class c where c.relkind = 'v' and c.relnamespace::regnamespace::text = any ('${schemas}')
       and pg_get_viewdef(c.oid) <> life.moved(pg_get_viewdef(c.oid))
  loop
    execute format('create or replace view %s %s as %s', v_view.name, 'with (' || v_view.options || ')', v_view.text);
  end loop;
end $$;
create function life.move_defaults() returns void language plpgsql as $$
declare
  v_column record;
begin
  for v_column in
    select d.adrelid::regclass as name, a.attname, life.moved(pg_get_expr(d.adbin, d.adrelid)) as text
      from pg_attrdef d
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum and a.attgenerated = ''
      join pg_class c on c.oid = d.adrelid and c.relnamespace::regnamespace::text = any ('${schemas}')
     where pg_get_expr(d.adbin, d.adrelid) <> life.moved(pg_get_expr(d.adbin, d.adrelid))
  loop
    execute format('alter table %s alter column %I set default %s', v_column.name, v_column.attname, v_column.text);
  end loop;
end $$;

-- So much time passes: what waits for its time in the outbox is due as much earlier, and what was given up is as much longer ago.
create function life.pass(p_time interval) returns void language plpgsql as $$
begin
  update life.clock set ahead = ahead + p_time;
  update outbox.pending set due = due - p_time where due > pg_catalog.now();
  update outbox.heads set due = due - p_time where due > pg_catalog.now() and claim_id is null;
  if p_time > interval '1 minute' and exists (select from outbox.dead) then
    set local session_replication_role = replica;
    update outbox.attempts set recorded_at = recorded_at - interval '10 minutes'
     where outbox_id in (select d.outbox_id from outbox.dead d) and recorded_at > pg_catalog.now() - interval '6 minutes';
    set local session_replication_role = origin;
  end if;
end $$;

-- What waits for a few seconds is due now; returns whether a relay has something to do.
create function life.hurry() returns boolean language plpgsql as $$
begin
  update outbox.pending set due = pg_catalog.now() where due between pg_catalog.now() and pg_catalog.now() + interval '5 seconds';
  update outbox.heads set due = pg_catalog.now()
   where due between pg_catalog.now() and pg_catalog.now() + interval '5 seconds' and claim_id is null;
  return exists (select from outbox.pending p where p.due <= pg_catalog.now()) or exists (select from outbox.pending_unordered)
      or exists (select from outbox.claims);
end $$;

-- A function of the product is another from now on: this text in it is that one.
create function life.plant(p_function text, p_find text, p_replace text) returns void language plpgsql as $$
declare
  v_text text := pg_get_functiondef(p_function::regproc);
begin
  if strpos(v_text, p_find) = 0 then
    raise exception '% does not hold %', p_function, p_find;
  end if;
  execute replace(v_text, p_find, p_replace);
end $$;
select life.move_functions(), life.move_views(), life.move_defaults();
`;

/** In a database that was migrated, as a superuser. */
export async function makeClockMovable(client: Client): Promise<void> {
  await client.query(movable);
}
