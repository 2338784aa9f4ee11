-- Erases the payloads of a request's outgoing messages up to a moment, where they are finished or can be finished: unsent mail to the
-- customer, forms and notes to one person in Slack, and rows that were given up are skipped first. Messages to colleagues may concern other
-- requests as well, and are left to arrive. Notifications are erased immediately, except reminders, which name no customer.
--
-- The instructions are derived from the request's events and notices, because rows are found by them; layers above name theirs. Where
-- a payload was collected long ago, only the salt of its hash is left to erase.
create or replace function capacity.erase_messages(
  p_request_id text, p_to timestamptz, p_actor text, p_why text, out erased integer, out skipped integer, out waiting integer
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_stream text;
  v_instructions text[];
  v_ids uuid[] := '{}';
  v_id uuid;
  v_told record := notify.erase_about(p_request_id, p_to, '{reminder}');
  v_skipped uuid[];
  -- What layers above sent about the request, by stream: {"interactions": ["slack:…"]}.
  v_others jsonb := headroom.run_hooks('capacity.customer_erased', jsonb_build_object('request_id', p_request_id, 'to', p_to));
begin
  erased := 0;
  waiting := 0;
  for v_stream, v_instructions in
    select 'capacity', array(select format('%s#%s', e.request_id, e.seq) from capacity.events e where e.request_id = p_request_id
                             union all
                             select format('%s!%s', n.request_id, n.id) from capacity.notices n where n.request_id = p_request_id)
    union all
    select o.key, array(select jsonb_array_elements_text(o.value)) from jsonb_each(v_others) o
  loop
    -- In this order: a row that is collected between the two statements is found by the second, so none is missed.
    v_ids := v_ids || array(select d.outbox_id from outbox.rows d
                             where d.stream_id = outbox.stream_id(v_stream) and d.instruction_id = any (v_instructions)
                               and d.created_at <= p_to
                               and d.salted and d.payload is not null);
    perform outbox.forget_salts(outbox.stream_id(v_stream), v_instructions, p_to);
  end loop;
  perform outbox.forget_salts(outbox.stream_id('people'), v_told.delivery_ids, p_to);
  v_skipped := outbox.choose_rows(v_ids, 'email', 'email:member:', array(select o from jsonb_object_keys(v_others) o))
    || outbox.choose_rows(v_told.to_customer, 'email', 'no such key', '{}') || outbox.choose_rows(v_told.to_members, '', '', '{}');
  v_ids := array(select i from unnest(v_ids || array(
                     select d.outbox_id from outbox.rows d
                      where d.stream = 'people' and d.outbox_id = any (v_told.to_customer || v_told.to_members)
                        and d.salted and d.payload is not null)) i order by i);

  select count(*) filter (where k.result = 'skipped') into skipped
    from outbox.skip(array(select i from unnest(v_skipped) i where i = any (v_ids) order by i), p_actor, p_why) k;

  foreach v_id in array v_ids loop
    if outbox.erase_finished(v_id, p_actor, p_why) then
      erased := erased + 1;
    else
      waiting := waiting + 1;
    end if;
  end loop;
end
$$;
comment on function capacity.erase_messages(text, timestamptz, text, text)
  is 'Erases the payloads of a request''s messages: how many were erased, skipped before that, and still wait.';
