-- The same moment, or the end of the quiet hours that contain it, by the person's own clock.
create or replace function notify.after_quiet(p_person notify.people, p_at timestamptz) returns timestamptz
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_zone text := case when p_person.quiet_from is not null then notify.known_zone(p_person.time_zone) end;
  v_clock time := (p_at at time zone v_zone)::time;
  v_after boolean := v_clock >= p_person.quiet_from;
  v_before boolean := v_clock < p_person.quiet_until;
  -- If they span midnight, either condition is enough.
  v_quiet boolean := case when p_person.quiet_from < p_person.quiet_until then v_after and v_before else v_after or v_before end;
begin
  return case when v_quiet then notify.next_time(p_at, v_zone, p_person.quiet_until) else p_at end;
end
$$;
comment on function notify.after_quiet(notify.people, timestamptz)
  is 'A moment, or the end of the quiet hours around it. Nullable: p_person.';
