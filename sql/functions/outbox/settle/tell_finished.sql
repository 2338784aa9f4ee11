-- Notifies layers above of rows that are finished, delivered or skipped, where their stream is followed. For a row that a person says
-- arrived, the time is that of its last try.
create or replace function outbox.tell_finished(p_outbox_ids uuid[], p_delivered boolean, p_at timestamptz) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform headroom.run_hooks('outbox.finished', jsonb_build_object(
            'stream', f.name, 'outbox_ids', f.ids, 'delivered', p_delivered, 'at', p_at))
     from (select s.name, jsonb_agg(m.outbox_id) as ids
             from outbox.payloads m join outbox.streams s on s.stream_id = m.stream_id and s.followed
            where m.outbox_id = any (p_outbox_ids)
            group by s.name) f;
end
$$;
comment on function outbox.tell_finished(uuid[], boolean, timestamptz)
  is 'Notifies layers above of finished rows of streams that are followed.';
