-- The customer's link, for a message that has one: what it is computed from at the moment of sending, its label, and a note about it.
-- The link itself is stored nowhere.
create or replace function capacity.tell_link(p_story jsonb, p_template text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_template not in ('offer', 'warning', 'payment_failed') then
    return null;
  end if;
  return jsonb_build_object('kind', 'confirmation', 'id', p_story -> 'token_id', 'base', p_story -> 'public_url')
    || case when capacity.story_price(p_story) is null
            then '{"words": "Confirm or decline", "note": "The link is for you alone and works once. Opening it decides nothing."}'::jsonb
            else '{"words": "Review and pay",
                   "note": "The link is for you alone. Opening it decides nothing and charges nothing."}'::jsonb end;
end
$$;
comment on function capacity.tell_link(jsonb, text) is 'The link of a message to the customer, without its secret. Nullable: result.';
