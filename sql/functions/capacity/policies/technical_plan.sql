-- The technical half of a review plan. Where a rule names the group, the requester has no choice: naming another is refused, otherwise
-- the requester could avoid the reviewers that a size or a region needs.
--
-- The reviewers whose approval would count now are the active members of the group without the requester; bounded like the commercial ones.
create or replace function capacity.technical_plan(
  p_workspace_id text, p_requester_id text, p_group_id text, p_route capacity.policies, p_auto capacity.policies
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_group_id text;
  v_group_name text;
  v_reviewers jsonb;
  v_why text;
begin
  select g.id, g.name, case when p_auto.id is null then (
           select jsonb_agg(jsonb_build_object('id', c.member_id, 'name', c.display_name) order by c.member_id)
             from (select c.member_id, c.display_name
                     from capacity.candidates c
                    where c.workspace_id = g.workspace_id and c.kind = 'group' and c.party = g.id and c.member_id <> p_requester_id
                    order by c.member_id limit 50) c) end
    into v_group_id, v_group_name, v_reviewers
    from directory.groups g where g.workspace_id = p_workspace_id and g.id = coalesce(p_route.group_id, p_group_id);
  if p_group_id <> p_route.group_id then
    perform headroom.fail('invalid_input', format('The rule "%s" asks for the technical review of the group %s.', p_route.id,
                                                  v_group_name),
      format('infra_owner_group: "%s" was named, the rule names "%s"', left(p_group_id, 64), v_group_id),
      'Leave the infra group out: the rule names it.');
  elsif p_group_id is not null and v_group_id is null then
    perform headroom.fail('invalid_input', format('There is no infra group "%s".', left(p_group_id, 64)),
                          'infra_owner_group: a group of the workspace',
      'Name a group of the workspace, or leave it out where a rule names one.');
  end if;
  if p_auto.id is not null then
    v_why := format('Approved automatically by the rule "%s".', p_auto.id);
  else
    v_why := case when p_route.id is not null then format('The rule "%s" names the group %s.', p_route.id, v_group_name)
                  when v_group_id is not null then format('Any member of the group %s reviews it.', v_group_name) end;
    if v_reviewers is null then
      perform headroom.fail('nobody_can_approve', 'Nobody can give the technical approval of this request.',
        'infra_owner_group: ' || coalesce(v_why || ' It has no active member other than the requester.',
                                          'No infra group was named, and no rule names one.'),
        case when p_route.id is null then 'Name another group, or ask an admin to fix the policy or the directory.'
             else 'Ask an admin to fix the policy or the directory.' end);
    end if;
  end if;
  return jsonb_build_object('group', v_group_id, 'auto', p_auto.id is not null, 'rule', coalesce(p_auto.id, p_route.id), 'why', v_why,
                            'reviewers', coalesce(v_reviewers, '[]'));
end
$$;
comment on function capacity.technical_plan(text, text, text, capacity.policies, capacity.policies)
  is 'The technical half of a review plan, from the rules that apply.';
