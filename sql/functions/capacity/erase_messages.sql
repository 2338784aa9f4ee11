-- Erases the payloads of a request's outgoing messages up to a moment, as far as they are finished or can be: mail to the customer that
-- waits, forms and notes to one person in Slack, and whatever was given up is skipped first. Mail to colleagues may speak of other
-- requests as well, and is left to arrive.
--
-- The instructions are spelled out from the request's events, its notices and the deliveries of Slack about it, because that is what the
-- dedupe table is keyed by. Where a payload was collected long ago, the salt of its hash is all that is left to erase.
create or replace function capacity.erase_messages(
  p_request_id text, p_to timestamptz, p_actor text, p_why text, out erased integer, out skipped integer, out waiting integer
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys tid[];
  v_ids uuid[];
  v_id uuid;
begin
  erased := 0;
  waiting := 0;
  select array_agg(d.ctid) filter (where m.outbox_id is null),
         coalesce(array_agg(d.outbox_id order by d.outbox_id) filter (where m.payload is not null), '{}')
    into v_keys, v_ids
    from (select 'capacity' as stream, format('%s#%s', e.request_id, e.seq) as instruction_id from capacity.events e where e.request_id = p_request_id
          union all
          select 'capacity', format('%s!%s', n.request_id, n.id) from capacity.notices n where n.request_id = p_request_id
          union all
          select 'interactions', 'slack:' || d.delivery_id from inbound.deliveries d where d.request_id = p_request_id and d.provider = 'slack') i
    join outbox.streams s on s.name = i.stream
    join outbox.dedupe d on d.stream_id = s.stream_id and d.instruction_id = i.instruction_id and d.created_at <= p_to and d.salt is not null
    left join outbox.payloads m on m.outbox_id = d.outbox_id;
  update outbox.dedupe d set salt = null where d.ctid = any (v_keys);

  select count(*) filter (where k.result = 'skipped') into skipped
    from outbox.skip(
      array(select m.outbox_id
              from outbox.payloads m
              join outbox.rails r on r.rail_id = m.rail_id
              join outbox.streams s on s.stream_id = m.stream_id
             where m.outbox_id = any (v_ids)
               and (r.name = 'email' and not starts_with(m.idempotency_key, 'email:member:') or s.name = 'interactions'
                    or exists (select from outbox.dead d where d.outbox_id = m.outbox_id))
             order by m.outbox_id),
      p_actor, p_why) k;

  foreach v_id in array v_ids loop
    begin
      perform outbox.erase_payload(v_id, p_actor, p_why);
      erased := erased + 1;
    exception when sqlstate 'HR007' then
      waiting := waiting + 1;
    end;
  end loop;
end
$$;
comment on function capacity.erase_messages(text, timestamptz, text, text)
  is 'Erases the payloads of a request''s messages: how many were erased, skipped before that, and still wait.';
