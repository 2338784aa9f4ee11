-- Makes an approval rule, or changes the given fields: a field that p_changes does not name keeps its value; null empties a condition.
-- Requests that were submitted before keep the rules that applied at submission.
create or replace function capacity.put_policy(p_workspace_id text, p_id text, p_changes jsonb) returns capacity.policies
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old capacity.policies;
  v_new capacity.policies;
  v_wrong text;
begin
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', format('There is no workspace "%s".', left(p_workspace_id, 64)), null,
                          'Create it first, or name another one.');
  elsif p_id is null or p_id !~ '^[a-z0-9][a-z0-9-]{0,62}$' then
    perform headroom.fail('invalid_input', 'The id of a rule is 1 to 63 lower-case letters, digits and dashes.', left(p_id, 80));
  end if;
  perform headroom.check_changes(p_changes, '{kind,rank,enabled,description,sizes,regions,min_monthly_cost_usd,max_monthly_cost_usd,
    max_quantity,step,approver_role,approver_id,group_id}');
  select * into v_old from capacity.policies p where p.workspace_id = p_workspace_id and p.id = p_id for update;
  if not found then
    v_old := jsonb_populate_record(null::capacity.policies, jsonb_build_object('rank', 100, 'enabled', true,
      'step', case p_changes ->> 'kind' when 'escalation' then 'commercial' end));
  end if;
  begin
    v_new := jsonb_populate_record(v_old, p_changes);
  exception when data_exception then
    perform headroom.fail('invalid_input', 'A field of the rule has a value of the wrong type.', sqlerrm, 'Nothing was changed.');
  end;
  v_new.workspace_id := p_workspace_id;
  v_new.id := p_id;

  v_wrong := capacity.check_policy(v_new);
  if v_wrong is not null then
    perform headroom.fail('invalid_input', format('The %s of the rule is not acceptable.', split_part(v_wrong, ':', 1)), v_wrong,
                          'Nothing was changed.');
  end if;
  insert into capacity.policies as p (workspace_id, id, kind, rank, enabled, description, sizes, regions, min_monthly_cost_usd,
                                      max_monthly_cost_usd,
                                      max_quantity, step, approver_role, approver_id, group_id)
  values (p_workspace_id, p_id, v_new.kind, v_new.rank, v_new.enabled, v_new.description, v_new.sizes, v_new.regions,
          v_new.min_monthly_cost_usd,
          v_new.max_monthly_cost_usd, v_new.max_quantity, v_new.step, v_new.approver_role, v_new.approver_id, v_new.group_id)
  on conflict (workspace_id, id) do update
    set kind = excluded.kind, rank = excluded.rank, enabled = excluded.enabled, description = excluded.description, sizes = excluded.sizes,
        regions = excluded.regions, min_monthly_cost_usd = excluded.min_monthly_cost_usd,
        max_monthly_cost_usd = excluded.max_monthly_cost_usd,
        max_quantity = excluded.max_quantity, step = excluded.step, approver_role = excluded.approver_role,
        approver_id = excluded.approver_id,
        group_id = excluded.group_id, updated_at = now()
  returning p.* into v_new;
  return v_new;
end
$$;
comment on function capacity.put_policy(text, text, jsonb) is 'Makes an approval rule or changes one.';
