-- How many rows a filter of list_retries() finds, shown before anything is done to them.
create or replace function outbox.count_retries(
  p_stream text default null, p_rail text default null, p_error_code text default null
) returns bigint
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform outbox.check_stream_name(p_stream);
  return (select count(*) from outbox.retries_waiting(p_stream, p_rail, p_error_code));
end
$$;
comment on function outbox.count_retries(text, text, text) is 'Number of rows that wait for the time of their next try.';
