-- Takes the next number of a lane without giving it to a row: the number stays empty permanently, so only the owner may do this.
-- An idle lane stays idle, so that the next enqueue still wakes it.
create or replace function outbox.take_number(p_stream text, p_key text) returns bigint
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_seq bigint;
begin
  insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
  select s.stream_id, p_key, 2, 2 from outbox.streams s where s.name = p_stream
  on conflict (stream_id, key) do update
    set next_seq = l.next_seq + 1, idle_at = case when l.idle_at = l.next_seq then l.next_seq + 1 else l.idle_at end
  returning l.next_seq - 1 into v_seq;
  return v_seq;
end
$$;
comment on function outbox.take_number(text, text) is 'Takes the next number of a lane and leaves it empty.';
