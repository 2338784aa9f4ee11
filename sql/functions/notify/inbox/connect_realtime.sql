-- Makes Supabase's Realtime notify open pages, where it is installed: a private broadcast to each member's own topic,
-- headroom:inbox:<workspace>:<member>, that says which notification came. Its content is read as usual, under row-level security.
--
-- Only the role that migrates has rights to Realtime's table, so the sending function belongs to it, in its own schema, and only our
-- trigger may call it. A failure of Realtime cannot stop a notification. Safe to call again.
create or replace function notify.connect_realtime() returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regprocedure('realtime.send(jsonb,text,text,boolean)') is null or to_regprocedure('realtime.topic()') is null
     or to_regclass('realtime.messages') is null then
    return 'absent';
  elsif exists (select from pg_trigger t where t.tgrelid = 'notify.notifications'::regclass and t.tgname = 'push_inbox') then
    return 'connected';
  end if;
  create schema if not exists headroom_realtime;
  drop function if exists headroom_realtime.push_inbox();
  create function headroom_realtime.push_inbox() returns trigger
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $push$
  begin
    perform realtime.send(jsonb_build_object('id', t.id), 'notification', format('headroom:inbox:%s:%s', t.workspace_id, t.recipient), true)
       from told t where t.recipient_kind = 'member' and t.channels @> array['in-app'];
    return null;
  exception when others then
    return null;
  end
  $push$;
  revoke all on function headroom_realtime.push_inbox() from public, anon, authenticated, service_role;
  grant usage on schema headroom_realtime to headroom_owner;
  grant execute on function headroom_realtime.push_inbox() to headroom_owner;
  create policy headroom_inbox on realtime.messages for select to authenticated using (
    (select realtime.topic()) = 'headroom:inbox:' || (select directory.reader_workspace()) || ':' || (select directory.reader_id()));
  set local role headroom_owner;
  create trigger push_inbox after insert on notify.notifications referencing new table as told
    for each statement execute function headroom_realtime.push_inbox();
  reset role;
  return 'connected';
exception when insufficient_privilege or duplicate_object then
  return 'refused';
end
$$;
comment on function notify.connect_realtime()
  is 'Connects the inbox to Supabase''s Realtime: connected, absent, or refused where we have no right to.';
