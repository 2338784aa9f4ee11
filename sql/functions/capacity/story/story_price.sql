-- What the customer pays, and how often: "USD 1,200.00 a month". Null where there is nothing to pay.
create or replace function capacity.story_price(p_story jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return (p_story #>> '{offer,words}') || case p_story #>> '{offer,interval}' when 'month' then ' a month' else ' once' end;
end
$$;
comment on function capacity.story_price(jsonb) is 'The price in words. Nullable: result.';
