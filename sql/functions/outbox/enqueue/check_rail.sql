-- Refuses a guarded rail to a stream that was not granted it. Only for rows of applications: our own functions may use any rail.
create or replace function outbox.check_rail(p_stream outbox.streams, p_rail_id smallint, p_rail text) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from outbox.rails r
              where r.rail_id = p_rail_id and r.guarded
                and not exists (select from outbox.stream_rails g
                                 where g.stream_id = p_stream.stream_id and g.rail_id = r.rail_id and not g.leftover)) then
    perform headroom.fail('not_allowed', format('Rows of stream "%s" may not use rail "%s".', p_stream.name, p_rail),
      'it acts with the installation''s credentials',
      format('An operator can allow it to everybody who may write that stream: select outbox.grant_rail(%L, %L). Nothing was written.',
             p_stream.name, p_rail));
  end if;
end
$$;
comment on function outbox.check_rail(outbox.streams, smallint, text) is 'Refuses a guarded rail that a stream was not granted.';
