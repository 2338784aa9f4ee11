-- Hook of directory.group_removed: a group stays while a rule routes to it or an open request waits for its review.
create or replace function capacity.check_group_unused(p_group jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := p_group ->> 'workspace_id';
  v_id text := p_group ->> 'group_id';
  v_policies text[];
  v_open bigint;
begin
  select array_agg(p.id order by p.id) into v_policies from capacity.policies p
   where p.workspace_id = v_workspace_id and p.group_id = v_id;
  select count(*) into v_open from capacity.requests r
   where r.workspace_id = v_workspace_id and r.infra_owner_group = v_id and r.state = 'UNDER_REVIEW' and r.technical_approved_at is null;
  if v_policies is not null or v_open > 0 then
    perform headroom.fail('conflict', format('The group "%s" is still needed.', v_id),
      format('%s open reviews, rules: %s', v_open, coalesce(array_to_string(v_policies, ', '), 'none')),
      'First have its reviews decided, and name another group in its rules. Nothing was changed.');
  end if;
  return null;
end
$$;
comment on function capacity.check_group_unused(jsonb) is 'Refuses to remove a group that is still needed. Nullable: result.';
