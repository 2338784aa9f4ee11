-- What is wrong with a rule, as "field: the accepted values", or null. The table's constraints in words. A disabled
-- rule may name a member who was removed, otherwise it could not be disabled; it may also name sizes and regions that no request can have,
-- which never match.
create or replace function capacity.check_policy(p_policy capacity.policies) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when coalesce(p_policy.kind, '') not in ('escalation', 'auto_approval', 'review_route')
      then 'kind: escalation, auto_approval or review_route'
    when coalesce(p_policy.step, '') not in ('commercial', 'technical', 'both')
      then 'step: commercial, technical, or for auto_approval both'
    when p_policy.rank is null then 'rank: a whole number; the lowest decides'
    when p_policy.enabled is null then 'enabled: true or false'
    when length(p_policy.description) > 500 then 'description: up to 500 characters'
    when cardinality(p_policy.sizes) not between 1 and 100 or array_ndims(p_policy.sizes) > 1
         or array_position(p_policy.sizes, null) is not null
      then 'sizes: 1 to 100 sizes, or null for any size'
    when cardinality(p_policy.regions) not between 1 and 100 or array_ndims(p_policy.regions) > 1
         or array_position(p_policy.regions, null) is not null
      then 'regions: 1 to 100 regions, or null for any region'
    when p_policy.enabled and exists (select from unnest(p_policy.sizes) s where s !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$')
      then 'sizes: each of up to 32 letters, digits, dots, dashes and underscores, such as 32XL'
    when p_policy.enabled and exists (select from unnest(p_policy.regions) r where r !~ '^[a-z0-9-]{2,32}$')
      then 'regions: each of 2 to 32 lower-case letters, digits and dashes, such as us-east-1'
    when p_policy.min_monthly_cost_usd < 0 then 'min_monthly_cost_usd: not negative'
    when p_policy.max_monthly_cost_usd < 0 or p_policy.max_monthly_cost_usd < p_policy.min_monthly_cost_usd
      then 'max_monthly_cost_usd: not below the minimum'
    when p_policy.enabled and greatest(p_policy.min_monthly_cost_usd, p_policy.max_monthly_cost_usd) > 1000000000000
      then 'max_monthly_cost_usd: neither it nor the minimum above 1000000000000'
    when p_policy.max_quantity <= 0 then 'max_quantity: at least 1'
    when p_policy.kind = 'escalation' and (p_policy.step <> 'commercial' or p_policy.group_id is not null)
      then 'step: an escalation is commercial and names no group'
    when p_policy.kind = 'escalation' and num_nonnulls(p_policy.approver_role, p_policy.approver_id) <> 1
      then 'approver_role: an escalation names either a role or a member whose approval is needed'
    when p_policy.kind = 'auto_approval' and num_nonnulls(p_policy.approver_role, p_policy.approver_id, p_policy.group_id) > 0
      then 'kind: an automatic approval names no approver and no group'
    when p_policy.kind = 'review_route' and (p_policy.step = 'both' or p_policy.approver_role is not null
                                             or (p_policy.step = 'commercial') <> (p_policy.approver_id is not null)
                                             or (p_policy.step = 'technical') <> (p_policy.group_id is not null))
      then 'step: a commercial route names an approver, a technical one a group'
    when p_policy.approver_role not in ('commercial', 'vp', 'admin') then 'approver_role: commercial, vp or admin'
    when p_policy.approver_id is not null
         and not exists (select from directory.members m
                          where m.workspace_id = p_policy.workspace_id and m.id = p_policy.approver_id
                            and (m.active or not p_policy.enabled))
      then 'approver_id: an active member of the workspace'
    when p_policy.group_id is not null
         and not exists (select from directory.groups g where g.workspace_id = p_policy.workspace_id and g.id = p_policy.group_id)
      then 'group_id: a group of the workspace'
  end;
end
$$;
comment on function capacity.check_policy(capacity.policies) is 'What is wrong with an approval rule. Nullable: result.';
