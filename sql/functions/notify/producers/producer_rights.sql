-- What a producer needs: the insert with its answer, into the view whose inserts call our function, and that function itself. Both are in a
-- layer above, so they are looked up.
create or replace function notify.producer_rights() returns table (privileges text, object text)
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select 'insert, select', t.tgrelid::regclass::text from pg_trigger t
   where t.tgfoid = 'notify.insert_notification()'::regprocedure
  union all
  select 'execute', 'function ' || p.oid::regprocedure from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    join pg_proc p on p.pronamespace = c.relnamespace and p.proname = 'notify' and p.proowner = c.relowner
   where t.tgfoid = 'notify.insert_notification()'::regprocedure;
$$;
comment on function notify.producer_rights() is 'What a producer needs.';
