-- When a person is told by a channel other than the inbox: a digest at its hour, during quiet hours at their end, otherwise immediately.
-- What would expire before the hour of the digest does not wait for it. Quiet hours apply to that too: what expires before they end is due
-- when it expires, and is not sent. This is not called for critical notifications.
create or replace function notify.due_at(p_person notify.people, p_choice text, p_now timestamptz, p_expires_at timestamptz)
returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_due timestamptz := notify.after_quiet(p_person, p_now);
  v_digest timestamptz;
begin
  if p_choice = 'digest' then
    v_digest := notify.after_quiet(p_person, notify.next_time(
      p_now, notify.known_zone(coalesce(p_person.time_zone, 'UTC')), coalesce(p_person.digest_at, '09:00')));
    v_due := case when v_digest < p_expires_at then v_digest else v_due end;
  end if;
  return least(v_due, p_expires_at);
end
$$;
comment on function notify.due_at(notify.people, text, timestamptz, timestamptz) is 'When a person is told. Nullable: p_person.';
