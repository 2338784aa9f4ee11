-- Applies an event of Stripe whose signature and form were verified. The caller's insert of the receipt decides whether it is new. The
-- answer is the outcome: `done`, `known`, `ignored` (not ours, or not followed) or `finding`, with what is wrong.
--
-- A refund or dispute of an unknown payment may belong to another system, or to a payment that is being recorded right now, so it is read
-- again a little later.
create or replace function billing.receive_event(p_event jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_object jsonb := billing.plain_object(p_event #> '{data,object}');
  v_answer jsonb;
begin
  if p_event ->> 'account' is not null
     or not exists (select from billing.event_rules() r
                     where r.event_type = p_event ->> 'type' and r.object = v_object ->> 'object') then
    return '{"outcome": "ignored"}';
  end if;
  v_answer := billing.apply_stripe_object(v_object, p_event ->> 'id', to_timestamp((p_event ->> 'created')::bigint), p_event ->> 'type');
  if v_answer ->> 'outcome' = 'ignored' and v_object ->> 'object' in ('refund', 'dispute') then
    insert into billing.sightings (outbox_key, object, next_read_at)
    values ('heard:' || (p_event ->> 'id'), v_object - 'customer', clock_timestamp() + interval '1 minute');
  end if;
  return v_answer;
end
$$;
comment on function billing.receive_event(jsonb) is 'Applies a verified event of Stripe and returns the outcome.';
