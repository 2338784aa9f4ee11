-- Gives way to a transaction that has published the same events since this one inserted them: theirs stay, and ours are removed, unless the
-- content differs. Their deliveries are the same rows.
create or replace function webhooks.yield_events() returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_pair record;
begin
  for v_pair in
    select m as mine, t as theirs
      from webhooks.envelopes m
      join webhooks.envelopes t
        on t.outbox_ids is not null and (t.stream_id = m.stream_id and t.instruction_id = m.instruction_id or t.id = m.id)
     where m.outbox_ids is null
  loop
    if (v_pair.mine).instruction_id <> (v_pair.theirs).instruction_id or (v_pair.mine).stream_id <> (v_pair.theirs).stream_id then
      perform headroom.fail('conflict', format('The id %s belongs to another event.', (v_pair.mine).id), null,
        'Leave the id out, and one is made. Nothing was written.');
    elsif (v_pair.mine).payload <> (v_pair.theirs).payload then
      perform webhooks.refuse_other_content(v_pair.theirs);
    elsif (v_pair.mine).id <> (v_pair.theirs).id then
      perform headroom.fail('try_again', 'The same event was published under another id at this moment.',
        format('the first one is %s', (v_pair.theirs).id), 'Nothing was written. Publish it again.');
    end if;
    delete from webhooks.envelopes e where e.ord = (v_pair.mine).ord;
  end loop;
  if not found then
    -- A transaction whose snapshot is from its beginning does not see theirs.
    perform headroom.fail('try_again', 'The same event was published by another transaction at this moment.', null,
      'Nothing was written. Publish it again.');
  end if;
end
$$;
comment on function webhooks.yield_events() is 'Gives way to the same events that another transaction has published meanwhile.';
