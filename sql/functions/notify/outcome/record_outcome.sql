-- Records what happened to a message after its channel had taken it, as reported later: delivered, then perhaps bounced, then perhaps
-- complained about. It only moves in that direction, so that reports may come in any order and any number of times. p_suppress says why
-- nothing more goes to the address (bounced, complained, rejected), or is null where the failure says nothing about it; the first time, the
-- sender's side is notified. Returns learnt, known, or unknown where the message is not ours.
create or replace function notify.record_outcome(p_outbox_id uuid, p_outcome text, p_suppress text, p_said text) returns text
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_order constant text[] := array['delivered', 'bounced', 'complained'];
  v_delivery notify.deliveries;
  v_news boolean;
begin
  select d.* into v_delivery from notify.deliveries d where d.outbox_id = p_outbox_id for update;
  if not found then
    return 'unknown';
  end if;
  v_news := coalesce(array_position(v_order, v_delivery.outcome), 0) < array_position(v_order, p_outcome);
  if v_news then
    update notify.deliveries d set outcome = p_outcome, outcome_at = clock_timestamp(), outcome_said = left(p_said, 500)
     where d.id = v_delivery.id
    returning d.* into v_delivery;
  end if;
  if p_suppress is not null and v_delivery.address_mark is not null
     -- A repeated report must not undo a lifted suppression, whichever message it was suppressed for.
     and (v_news or not exists (select from notify.suppressions s where s.workspace_id = v_delivery.workspace_id
                                   and s.address_mark = v_delivery.address_mark and s.lifted_at >= v_delivery.outcome_at))
     and notify.suppress(v_delivery.workspace_id, v_delivery.address_mark, p_suppress, p_said) then
    perform notify.tell_bounced(v_delivery);
  end if;
  return case when v_news then 'learnt' else 'known' end;
end
$$;
comment on function notify.record_outcome(uuid, text, text, text)
  is 'Records what happened to a message: learnt, known or unknown. Nullable: p_suppress, p_said.';
