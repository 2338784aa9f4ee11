-- The rails that rows of a stream may not use: guarded, without a grant. p_ours: for rows that our own functions wrote, which finish
-- where they stand.
create or replace function outbox.barred_rails(p_stream_id smallint, p_ours boolean) returns smallint[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select array(select r.rail_id from outbox.rails r
                where r.guarded
                  and not exists (select from outbox.stream_rails g
                                   where g.stream_id = p_stream_id and g.rail_id = r.rail_id and (p_ours or not g.leftover)));
$$;
comment on function outbox.barred_rails(smallint, boolean) is 'Guarded rails that a stream was not granted.';
