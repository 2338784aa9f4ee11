-- The commercial half of a review plan. Where a rule names the owner, the requester has no choice: naming somebody else is refused,
-- otherwise the requester could avoid the reviewer that a size or a region needs. Where no rule does, the named owner must be
-- somebody who may review, otherwise a requester could choose a friend.
--
-- The reviewers whose approval would count now are the holders of the needed authority, or the owner, and the delegates of those who are
-- away. Bounded, because the list is shown to people and kept in the request.
create or replace function capacity.commercial_plan(
  p_workspace_id text, p_requester_id text, p_owner_id text, p_route capacity.policies, p_escalation capacity.policies,
  p_auto capacity.policies
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_named directory.members;
  v_owner directory.members;
  v_authority jsonb;
  v_kind text;
  v_party text;
  v_reviewers jsonb := '[]';
  v_why text;
begin
  if p_owner_id is not null then
    v_named := directory.find_member(p_workspace_id, p_owner_id);
  end if;
  if p_route.id is not null then
    select m.* into v_owner from directory.members m where m.workspace_id = p_workspace_id and m.id = p_route.approver_id;
    if p_owner_id is not null and v_named.id is distinct from v_owner.id then
      perform headroom.fail('invalid_input', format('The rule "%s" asks for %s as the commercial owner.', p_route.id,
                                                    v_owner.display_name),
        format('commercial_owner_user_id: "%s" was named, the rule names "%s"', left(p_owner_id, 64), v_owner.id),
        'Leave the commercial owner out: the rule names them.');
    end if;
  elsif p_owner_id is not null then
    v_owner := v_named;
    if v_owner.id is null or not v_owner.active then
      perform headroom.fail('invalid_input', format('There is no active member "%s" who could be the commercial owner.',
                                                    left(p_owner_id, 64)),
        'commercial_owner_user_id: an active member of the workspace',
        'Name an active member of the workspace, or leave the owner out where a rule names one.');
    elsif not v_owner.roles && array['commercial', 'vp', 'admin'] then
      perform headroom.fail('invalid_input', format('%s does not review requests and cannot be the commercial owner.',
                                                    v_owner.display_name),
        'commercial_owner_user_id: ' || v_owner.id, 'Name a member with the role commercial or vp.');
    end if;
  end if;

  v_kind := case when p_escalation.approver_role is not null then 'role' when p_escalation.approver_id is not null then 'member'
                 else 'owner' end;
  v_authority := jsonb_strip_nulls(jsonb_build_object(
    'kind', v_kind,
    'role', p_escalation.approver_role, 'member', case when p_escalation.id is null then v_owner.id else p_escalation.approver_id end));
  if p_auto.id is not null then
    v_why := format('Approved automatically by the rule "%s".', p_auto.id);
  else
    v_party := case v_kind when 'owner' then v_owner.id else v_authority ->> v_kind end;
    v_reviewers := (
      select coalesce(jsonb_agg(jsonb_build_object('id', c.member_id, 'name', c.display_name) order by c.member_id), '[]')
        from (select c.member_id, c.display_name
                from capacity.candidates c
               where c.workspace_id = p_workspace_id and c.member_id <> p_requester_id and c.kind = v_kind and c.party = v_party
                 and (v_kind = 'role' or c.party <> p_requester_id)
               order by c.member_id limit 50) c);
    v_why := case
      when p_escalation.id is not null then format('The rule "%s" asks for the approval of %s.', p_escalation.id,
                                                   coalesce('a member with the role ' || p_escalation.approver_role,
                                                            p_escalation.approver_id))
      when p_route.id is not null then format('The rule "%s" names %s as the commercial owner.', p_route.id, v_owner.display_name)
      when v_owner.id is not null then format('%s is the commercial owner.', v_owner.display_name)
    end;
    if v_reviewers = '[]' then
      perform headroom.fail('nobody_can_approve', 'Nobody can give the commercial approval of this request.',
        'commercial_owner_user_id: ' || case
             when v_why is null then 'No commercial owner was named, and no rule names one.'
             when v_owner.id = p_requester_id and p_escalation.id is null
               then v_why || ' That is the requester, who does not review their own request.'
             else v_why || ' That leaves no active member other than the requester.' end,
        case when coalesce(p_escalation.id, p_route.id) is null
               then 'Name another commercial owner, or ask an admin to fix the policy or the directory.'
             else 'Ask an admin to fix the policy or the directory.' end);
    end if;
  end if;
  return jsonb_build_object('owner', v_owner.id, 'authority', v_authority, 'auto', p_auto.id is not null,
    'rule', coalesce(p_auto.id, p_escalation.id, p_route.id), 'why', v_why, 'reviewers', v_reviewers);
end
$$;
comment on function capacity.commercial_plan(text, text, text, capacity.policies, capacity.policies, capacity.policies)
  is 'The commercial half of a review plan, from the rules that apply.';
