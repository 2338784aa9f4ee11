-- Erases the payloads of a request's outgoing messages, as far as they are finished or can be: mail that waits and whatever was
-- given up is skipped first. The instructions are spelled out from the request's events and notices, because that is what the
-- dedupe table is keyed by.
create or replace function capacity.erase_messages(p_request_id text, p_actor text, p_why text) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[];
  v_skipped integer;
  v_erased integer := 0;
  v_waiting integer := 0;
  v_id uuid;
begin
  select array_agg(d.outbox_id order by d.outbox_id) into v_ids
    from (select format('%s#%s', e.request_id, e.seq) as instruction_id from capacity.events e where e.request_id = p_request_id
          union all
          select format('%s!%s', n.request_id, n.id) from capacity.notices n where n.request_id = p_request_id) i
    join outbox.streams s on s.name = 'capacity'
    join outbox.dedupe d on d.stream_id = s.stream_id and d.instruction_id = i.instruction_id
    join outbox.payloads m on m.outbox_id = d.outbox_id and m.erased_at is null;

  select count(*) filter (where k.result = 'skipped') into v_skipped
    from outbox.skip(
      array(select m.outbox_id from outbox.payloads m join outbox.rails r on r.rail_id = m.rail_id
             where m.outbox_id = any (v_ids) and (r.name = 'email' or exists (select from outbox.dead d where d.outbox_id = m.outbox_id))
             order by m.outbox_id),
      p_actor, p_why) k;

  foreach v_id in array coalesce(v_ids, '{}') loop
    begin
      perform outbox.erase_payload(v_id, p_actor, p_why);
      v_erased := v_erased + 1;
    exception when sqlstate 'HR007' then
      v_waiting := v_waiting + 1;
    end;
  end loop;
  return jsonb_build_object('erased', v_erased, 'skipped', v_skipped, 'waiting', v_waiting);
end
$$;
comment on function capacity.erase_messages(text, text, text) is 'Erases the payloads of a request''s messages: how many were erased, skipped before that, and still wait.';
