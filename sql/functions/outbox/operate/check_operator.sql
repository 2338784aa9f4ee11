-- An operator's act stays in the archive forever, so it needs a name and a reason. The number of rows is bounded, because the act holds the
-- number allocators of every key that it touches.
create or replace function outbox.check_operator(p_outbox_ids uuid[], p_actor text, p_reason text) returns void
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_actor is null or length(p_actor) not between 1 and 200 then
    perform headroom.fail('invalid_input', 'An actor of 1 to 200 characters is required.', null,
      'Name who does this: a login or a person.');
  elsif p_reason is null or length(p_reason) not between 1 and 2000 then
    perform headroom.fail('invalid_input', 'A reason of 1 to 2000 characters is required.', null,
      'It is recorded in the archive with the act.');
  elsif p_outbox_ids is null or array_ndims(p_outbox_ids) > 1 or array_position(p_outbox_ids, null) is not null then
    perform headroom.fail('invalid_input', 'Outbox ids are required, and none may be null.');
  elsif cardinality(p_outbox_ids) > 10000 then
    perform headroom.fail('invalid_input', format('At most 10000 rows at once, not %s.', cardinality(p_outbox_ids)), null,
      'Do it in several calls.');
  end if;
end
$$;
comment on function outbox.check_operator(uuid[], text, text)
  is 'Refuses an operator''s call without an actor or a reason, or with too many rows.';
