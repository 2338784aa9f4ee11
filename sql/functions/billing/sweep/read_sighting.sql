-- Applies one answer of Stripe's: an object, or several of one payment. Refunds that failed come first, because others may have taken their
-- place. In a list of a payment's refunds, what is missing matters too: one of ours that was given up and is not listed was not made.
-- Returns how many were news.
create or replace function billing.read_sighting(p_sighting billing.sightings) returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_objects jsonb := case when jsonb_typeof(p_sighting.object) = 'array' then p_sighting.object
                          when jsonb_typeof(p_sighting.object -> 'objects') = 'array' then p_sighting.object -> 'objects'
                          else jsonb_build_array(p_sighting.object) end;
  v_object jsonb;
  v_answer jsonb;
  v_news integer := 0;
begin
  for v_object in
    select o.object from jsonb_array_elements(v_objects) with ordinality o(object, place)
     order by o.object ->> 'status' in ('failed', 'canceled') is not true, o.place
  loop
    v_answer := billing.apply_stripe_object(v_object, 'look:' || p_sighting.id, p_sighting.seen_at);
    v_news := v_news + (v_answer ->> 'outcome' in ('done', 'finding'))::integer;
  end loop;
  if starts_with(p_sighting.outbox_key, 'billing/look:refunds:') and p_sighting.object ->> 'cursor' is null then
    perform billing.miss_refund(split_part(p_sighting.outbox_key, ':', 3), p_sighting.seen_at);
  elsif starts_with(p_sighting.outbox_key, 'billing/look:checkout:') and jsonb_typeof(p_sighting.object -> 'objects') = 'array'
        and jsonb_array_length(p_sighting.object -> 'objects') = 0 then
    perform billing.miss_checkout(split_part(p_sighting.outbox_key, ':', 3)::uuid, p_sighting.seen_at);
  elsif starts_with(p_sighting.outbox_key, 'found:') and v_news > 0 then
    update billing.reconciliations r set found = r.found + v_news where r.id = split_part(p_sighting.outbox_key, ':', 2)::uuid;
  end if;
  return v_news;
end
$$;
comment on function billing.read_sighting(billing.sightings) is 'Applies an answer of Stripe''s; how much of it was news.';
