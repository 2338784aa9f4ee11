-- The number of a stream, by which rows are found fastest; null when no stream has that name.
create or replace function outbox.stream_id(p_stream text) returns smallint
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select s.stream_id from outbox.streams s where s.name = p_stream
$$;
comment on function outbox.stream_id(text) is 'The number of a stream. Nullable: result.';
