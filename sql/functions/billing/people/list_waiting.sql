-- Money that waits for something, longest wait first: for people who look after it.
create or replace function billing.list_waiting(p_workspace_id text default null, p_limit integer default 50) returns table (
  state text, workspace_id text, request_id text, payment_id uuid, stripe_id text, currency text, amount bigint, since timestamptz
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 10000 entries.');
  end if;
  return query
  select w.* from billing.waiting w
   where w.state <> 'unread' and (p_workspace_id is null or w.workspace_id = p_workspace_id)
   order by w.since, w.request_id, w.state limit p_limit;
end
$$;
comment on function billing.list_waiting(text, integer)
  is 'Money that waits for something. Nullable: workspace_id, request_id, payment_id, stripe_id, currency, amount.';
