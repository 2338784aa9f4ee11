-- Takes a participant's next number without a row: enqueue allocates its own numbers. For taking over a sequence that began elsewhere; only
-- the owner may do this.
create or replace function payments.bump_participant_outbox_seq(p_participant_id text) returns bigint
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if p_participant_id is null or length(p_participant_id) not between 1 and 512 or octet_length(p_participant_id) > 1024 then
    perform headroom.fail('invalid_input', 'A participant id has 1 to 512 characters in at most 1024 bytes.');
  end if;
  return outbox.take_number('payments', p_participant_id);
end
$$;
comment on function payments.bump_participant_outbox_seq(text) is 'Takes the next number of a participant and leaves it unused.';
