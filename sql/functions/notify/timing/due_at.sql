-- When somebody is to be told by a channel other than the inbox: a digest at its hour; at night when it is over; otherwise at once. What
-- would be worthless by then is told at once. Critical ones do not come here.
create or replace function notify.due_at(p_person notify.people, p_choice text, p_now timestamptz, p_expires_at timestamptz)
returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_due timestamptz := p_now;
begin
  if p_choice = 'digest' then
    v_due := notify.next_time(p_now, notify.known_zone(coalesce(p_person.time_zone, 'UTC')), coalesce(p_person.digest_at, '09:00'));
  end if;
  v_due := notify.after_quiet(p_person, v_due);
  return case when v_due < p_expires_at then v_due else p_now end;
end
$$;
comment on function notify.due_at(notify.people, text, timestamptz, timestamptz) is 'When a person is to be told. Nullable: p_person.';
