-- The request that an answer of Stripe's concerns; null if there is none, and for a page of a comparison, whose objects are read one by
-- one. A list of a payment's refunds concerns its request, even if the list is empty.
create or replace function billing.request_of_sighting(p_sighting billing.sightings) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if starts_with(p_sighting.outbox_key, 'billing/list:') then
    return null;
  end if;
  return coalesce(
    case when starts_with(p_sighting.outbox_key, 'billing/look:refunds:')
         then (select p.request_id from billing.payments p where p.payment_intent = split_part(p_sighting.outbox_key, ':', 3)) end,
    case when starts_with(p_sighting.outbox_key, 'billing/look:checkout:')
         then (select c.request_id from billing.checkouts c where c.id = split_part(p_sighting.outbox_key, ':', 3)::uuid) end,
    billing.request_of(billing.plain_object(case jsonb_typeof(p_sighting.object) when 'array' then p_sighting.object -> 0
                                              else coalesce(p_sighting.object #> '{objects,0}', p_sighting.object) end)));
end
$$;
comment on function billing.request_of_sighting(billing.sightings) is 'The request that an answer of Stripe''s concerns. Nullable: result.';
