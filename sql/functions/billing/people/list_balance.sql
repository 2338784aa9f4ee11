-- The books by day (UTC), newest first, of one workspace or of all. Whole days: from the first to the last, both included.
create or replace function billing.list_balance(p_workspace_id text default null, p_from date default null, p_to date default null)
returns table (workspace_id text, currency text, day date, taken bigint, refunded bigint, disputed bigint, net bigint)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
begin
  if p_from > p_to then
    perform headroom.fail('invalid_input', 'A period begins before it ends.', null, 'Give the earlier day first.');
  end if;
  return query
  select b.* from billing.balance b
   where (p_workspace_id is null or b.workspace_id = p_workspace_id)
     and b.day between coalesce(p_from, '-infinity') and coalesce(p_to, 'infinity')
   order by b.day desc, b.workspace_id, b.currency;
end
$$;
comment on function billing.list_balance(text, date, date) is 'The books by day.';
