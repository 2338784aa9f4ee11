-- An event of Stripe whose signature was right. Whether it comes for the first time, the caller's insert of the receipt decides. The answer
-- says what came of it: `done`, `known`, `ignored` (not ours, or of no interest) or `finding`, with what is wrong.
--
-- A refund or a dispute of a payment that nobody knows may be somebody else's, or of one that is being recorded at this very moment: it is
-- read again a little later.
create or replace function billing.receive_event(p_event jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_object jsonb := p_event #> '{data,object}';
  v_answer jsonb;
begin
  if coalesce(p_event ->> 'id' !~ '^evt_[A-Za-z0-9_]{1,190}$', true) or coalesce(length(p_event ->> 'type') not between 1 and 100, true)
     or coalesce(p_event ->> 'created' !~ '^[0-9]{1,11}$', true) or jsonb_typeof(v_object) is distinct from 'object' then
    perform headroom.fail('invalid_input', 'This is not an event of Stripe.', 'id, type, created and data.object are needed',
                          'Nothing was written.');
  elsif p_event ->> 'account' is not null
        or not exists (select from billing.event_rules() r
                        where r.event_type = p_event ->> 'type' and r.object = v_object ->> 'object') then
    return '{"outcome": "ignored"}';
  end if;
  v_answer := billing.apply_stripe_object(v_object, p_event ->> 'id', to_timestamp((p_event ->> 'created')::bigint), p_event ->> 'type');
  if v_answer ->> 'outcome' = 'ignored' and v_object ->> 'object' in ('refund', 'dispute') then
    insert into billing.sightings (outbox_key, object, next_read_at)
    values ('heard:' || (p_event ->> 'id'), billing.without_people(v_object), clock_timestamp() + interval '1 minute');
  end if;
  return v_answer;
end
$$;
comment on function billing.receive_event(jsonb) is 'Takes in an event of Stripe that was verified, and says what came of it.';
