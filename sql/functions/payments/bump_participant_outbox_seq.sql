-- Takes a participant's next number without giving it to a row: enqueue allocates its own. For taking over a sequence
-- that began elsewhere; the number stays empty for good, which is why only the owner may do this. An idle lane stays
-- idle, so that the next enqueue still wakes it.
create or replace function payments.bump_participant_outbox_seq(p_participant_id text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_seq bigint;
begin
  if p_participant_id is null or length(p_participant_id) not between 1 and 512 or octet_length(p_participant_id) > 1024 then
    raise exception 'a participant id must have 1 to 512 characters in at most 1024 bytes' using errcode = 'HR003';
  end if;
  insert into outbox.lanes as l (stream_id, key, next_seq, idle_at)
  select s.stream_id, p_participant_id, 2, 2 from outbox.streams s where s.name = 'payments'
  on conflict (stream_id, key) do update
    set next_seq = l.next_seq + 1, idle_at = case when l.idle_at = l.next_seq then l.next_seq + 1 else l.idle_at end
  returning l.next_seq - 1 into v_seq;
  return v_seq;
end
$$;
comment on function payments.bump_participant_outbox_seq(text) is 'Takes the next number of a participant and leaves it empty.';
