-- A page of rows that wait for the time of their next try, oldest row first. The next page begins after the last id of this one.
create or replace function outbox.list_retries(
  p_stream text default null, p_rail text default null, p_error_code text default null, p_limit integer default 100,
  p_after uuid default null
) returns table (outbox_id uuid, stream text, rail text, error_code text, tries smallint, due timestamptz)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A page has 1 to 10000 rows.');
  end if;
  perform outbox.check_stream_name(p_stream);
  return query
  select w.* from outbox.retries_waiting(p_stream, p_rail, p_error_code) w
   where p_after is null or w.outbox_id > p_after
   order by w.outbox_id
   limit p_limit;
end
$$;
comment on function outbox.list_retries(text, text, text, integer, uuid)
  is 'Rows that wait for the time of their next try, in pages. Nullable: error_code.';
