-- The cost of a request with these terms, from the layer above that knows prices. Null: there is nothing to pay. That layer refuses a price
-- that cannot be charged.
create or replace function capacity.offer_for(
  p_workspace_id text, p_requested_size text, p_quantity integer, p_region text, p_duration_days integer
) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(headroom.run_hooks('capacity.offer_made', jsonb_build_object(
    'workspace_id', p_workspace_id, 'requested_size', p_requested_size, 'quantity', p_quantity, 'region', p_region,
    'expected_duration_days', p_duration_days)) -> 'offer', 'null');
end
$$;
comment on function capacity.offer_for(text, text, integer, text, integer) is 'The cost of these terms. Nullable: p_duration_days, result.';
