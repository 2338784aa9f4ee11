-- Without this check, a misspelt stream in a filter would look like a stream without problems.
create or replace function outbox.check_stream_name(p_stream text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_stream is not null and not exists (select from outbox.streams s where s.name = p_stream) then
    perform headroom.fail('unknown_stream', format('There is no stream "%s".', left(p_stream, 80)),
      'known are ' || (select string_agg(s.name, ', ' order by s.name) from outbox.streams s),
      'List streams: headroom outbox stream');
  end if;
end
$$;
comment on function outbox.check_stream_name(text) is 'Refuses a stream that does not exist; null passes.';
