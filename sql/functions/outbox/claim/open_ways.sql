-- The ways of a stream that a relay may take rows from: those of the rails that it has (p_in_flight: rails, by number; none named: all),
-- without guarded rails that the stream was not granted. Leftovers are rows that our own functions wrote.
--
-- Writers come in random order (turns: equal for the ways of one), so that each gets its turn, however many rows another has queued and
-- whatever priority it gave them. The rails of one writer take turns the same way.
create or replace function outbox.open_ways(p_stream_id smallint, p_in_flight jsonb, out ways integer[], out turns float8[])
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(w.way_id order by w.turn, w.way_turn), '{}'), array_agg(w.turn order by w.turn, w.way_turn)
    from (select w.way_id, random() as way_turn, first_value(random()) over (partition by w.writer) as turn
            from outbox.ways w join outbox.rails r on r.rail_id = w.rail_id
           where w.stream_id = p_stream_id
             and coalesce(p_in_flight -> 'rails' @> to_jsonb(w.rail_id), true)
             and (not r.guarded
                  or exists (select from outbox.stream_rails g
                              where g.stream_id = p_stream_id and g.rail_id = w.rail_id
                                and (w.writer = '' or not g.leftover)))) w;
$$;
comment on function outbox.open_ways(smallint, jsonb)
  is 'The ways of a stream that a relay may take rows from, in turn, and whose turn each is. Nullable: turns.';
