-- The text of rows that bind something, as it is sent now: captures of earlier deliveries of the lane are filled in, and a row that names a
-- renderer is rendered. The rest stays exactly as it is stored. p_captured has the captures of earlier rows of the same run, which are not
-- stored yet.
--
-- Stable, so a renderer can read everything and write nothing. A row that cannot be made is returned with its outcome, and the others are
-- sent. A renderer may succeed at the next try; waiting cannot supply a missing capture.
--
-- The hash is salted like that of the stored payload, with a salt that is erased together with the payload.
create or replace function outbox.fill_binds(p_outbox_ids uuid[], p_captured jsonb default null)
returns table (outbox_id uuid, body text, sent_hash bytea, outcome text, code text, reason text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_row record;
  v_bind jsonb;
  v_value jsonb;
  v_payload jsonb;
  v_renderer text;
begin
  for v_row in
    select m.outbox_id, m.stream_id, m.lane_id, m.payload, m.binds, d.salt
      from outbox.payloads m
      left join outbox.dedupe d on d.stream_id = m.stream_id and d.instruction_id = m.instruction_id
        and d.idempotency_key = m.idempotency_key
     where m.outbox_id = any (p_outbox_ids)
  loop
    outbox_id := v_row.outbox_id;
    body := null;
    sent_hash := null;
    outcome := null;
    code := null;
    reason := null;
    v_payload := v_row.payload;
    v_renderer := null;
    begin
      for v_bind in select b from jsonb_array_elements(v_row.binds) b loop
        if v_bind ? 'renderer' then
          v_renderer := v_bind ->> 'renderer';
          v_value := outbox.rendered(v_row.stream_id, v_renderer, v_row.payload);
          v_renderer := null;
        else
          v_value := coalesce(p_captured -> (v_bind ->> 'capture'),
                              (select c.value from outbox.captures c where c.lane_id = v_row.lane_id and c.name = v_bind ->> 'capture'));
          if v_value is null then
            continue when v_bind -> 'required' = 'false';
            outcome := 'rejected';
            code := 'binding_missing';
            reason := format('Nothing was captured as "%s".', left(v_bind ->> 'capture', 80));
            exit;
          end if;
        end if;
        v_payload := outbox.with_value_at(v_payload, array(select jsonb_array_elements_text(v_bind -> 'path')), v_value);
      end loop;
    exception when others then
      outcome := case when v_renderer is null then 'rejected' else 'retry' end;
      code := case when v_renderer is null then 'binding_invalid' else 'render_failed' end;
      reason := case when v_renderer is null then 'The row''s binds are malformed.'
        else format('The renderer "%s" made nothing: %s', v_renderer, sqlerrm) end;
    end;
    if outcome is null then
      body := v_payload::text;
      sent_hash := sha256(uuid_send(v_row.salt) || convert_to(body, 'UTF8'));
    end if;
    return next;
  end loop;
end
$$;
comment on function outbox.fill_binds(uuid[], jsonb)
  is 'The text of bound rows at the moment of sending, or why there is none. Nullable: body, sent_hash, outcome, code, reason.';
