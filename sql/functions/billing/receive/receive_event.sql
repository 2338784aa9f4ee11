-- An event of Stripe whose signature and form were right. Whether it comes for the first time, the caller's insert of the receipt decides.
-- The answer says what came of it: `done`, `known`, `ignored` (not ours, or of no interest) or `finding`, with what is wrong.
--
-- A refund or a dispute of a payment that nobody knows may be somebody else's, or of one that is being recorded at this very moment: it is
-- read again a little later.
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
comment on function billing.receive_event(jsonb) is 'Takes in an event of Stripe that was verified, and says what came of it.';
