-- Notifies idle relays. NOTIFY serialises the commits of all sessions that use it, so it is left out while every relay is busy: a busy
-- relay claims again anyway, and polling alone is enough. A relay that has been silent for three minutes is treated as dead.
--
-- A transaction with a NOTIFY cannot be prepared, and a producer cannot know whether a relay sleeps. So where the server allows prepared
-- transactions, only sessions that ask for it notify (outbox.notify = 'on', also by ALTER ROLE or ALTER DATABASE); 'off' turns it off
-- anywhere.
create or replace function outbox.wake_relays(p_stream text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(nullif(current_setting('outbox.notify', true), '') = 'on', current_setting('max_prepared_transactions') = '0')
     and exists (select from outbox.relays where wants_notify and seen_at > now() - interval '3 minutes') then
    perform pg_notify('outbox_pending', p_stream);
  end if;
end
$$;
comment on function outbox.wake_relays(text) is 'Notifies idle relays that a stream has work.';
