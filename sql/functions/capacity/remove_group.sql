-- Takes an infra group away, unless a rule routes to it or an open request waits for its review: these would be left to nobody.
create or replace function capacity.remove_group(p_workspace_id text, p_id text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_policies text[];
  v_open bigint;
begin
  perform from capacity.groups g where g.workspace_id = p_workspace_id and g.id = p_id for update;
  if not found then
    perform capacity.fail('not_found', format('There is no group "%s" in this workspace.', left(p_id, 64)), null, 'List groups: headroom members groups');
  end if;
  select array_agg(p.id order by p.id) into v_policies from capacity.policies p where p.workspace_id = p_workspace_id and p.group_id = p_id;
  select count(*) into v_open from capacity.requests r
   where r.workspace_id = p_workspace_id and r.infra_owner_group = p_id and r.state = 'UNDER_REVIEW' and r.technical_approved_at is null;
  if v_policies is not null or v_open > 0 then
    perform capacity.fail('conflict', format('The group "%s" is still needed.', p_id),
      format('%s open reviews, rules: %s', v_open, coalesce(array_to_string(v_policies, ', '), 'none')),
      'Let its reviews be decided and its rules name another group first. Nothing was changed.');
  end if;
  delete from capacity.groups g where g.workspace_id = p_workspace_id and g.id = p_id;
end
$$;
comment on function capacity.remove_group(text, text) is 'Deletes an infra group that nothing waits for.';
