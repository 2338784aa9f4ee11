-- Reports of Stripe's that did not agree with ours, newest first: the unresolved ones, or all.
create or replace function billing.list_findings(p_workspace_id text default null, p_all boolean default false, p_limit integer default 50)
returns setof billing.findings
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
as $$
begin
  if p_limit is null or p_limit not between 1 and 10000 then
    perform headroom.fail('invalid_input', 'A list has 1 to 10000 findings.');
  end if;
  return query
  select f.* from billing.findings f
   where (p_workspace_id is null or f.workspace_id = p_workspace_id) and (coalesce(p_all, false) or f.resolved_at is null)
   order by f.found_at desc, f.id limit p_limit;
end
$$;
comment on function billing.list_findings(text, boolean, integer) is 'What did not agree with Stripe, newest first.';
