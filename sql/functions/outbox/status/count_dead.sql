-- How many dead letters a filter of list_dead() finds, shown before anything is done to them.
create or replace function outbox.count_dead(
  p_stream text default null,
  p_error_code text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_parked boolean default null
) returns bigint
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform outbox.check_stream_name(p_stream);
  return (
    select count(*)
      from outbox.dead d
     where (p_stream is null or d.stream_id = (select s.stream_id from outbox.streams s where s.name = p_stream))
       and (p_error_code is null or d.error_code = p_error_code)
       and (p_from is null or d.died_at >= p_from)
       and (p_to is null or d.died_at < p_to)
       and (p_parked is null or d.parked = p_parked));
end
$$;
comment on function outbox.count_dead(text, text, timestamptz, timestamptz, boolean) is 'Number of dead letters that a filter finds.';
