-- Who must approve a request and by which rule, under the current policies. The reducer stores the answer in the request, so that a later
-- change of policy does not change an open request; a preview shows it without storing it.
--
-- Of the rules of a kind that apply, the lowest rank decides. An escalation and an automatic approval of the commercial step also
-- compete by rank, and at equal rank the escalation wins. Of two escalations, the one with the higher minimum cost wins,
-- so a ladder of thresholds needs no ranks.
create or replace function capacity.review_plan(
  p_workspace_id text, p_requester_id text, p_commercial_owner_id text, p_infra_group_id text,
  p_requested_size text, p_quantity integer, p_region text, p_monthly_cost_usd numeric
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner_route capacity.policies;
  v_group_route capacity.policies;
  v_escalation capacity.policies;
  v_auto_commercial capacity.policies;
  v_auto_technical capacity.policies;
  v_rule capacity.policies;
  v_commercial jsonb;
  v_technical jsonb;
begin
  for v_rule in
    select p.* from capacity.policies p
     where p.workspace_id = p_workspace_id and p.enabled
       and (p.sizes is null or exists (select from unnest(p.sizes) s where upper(s collate "C") = upper(p_requested_size collate "C")))
       and (p.regions is null or p_region = any (p.regions))
       -- Without an estimate a request may cost anything: it meets every minimum and no maximum.
       and (p.min_monthly_cost_usd is null or p_monthly_cost_usd is null or p_monthly_cost_usd >= p.min_monthly_cost_usd)
       and (p.max_monthly_cost_usd is null or p_monthly_cost_usd <= p.max_monthly_cost_usd)
       and (p.max_quantity is null or p_quantity <= p.max_quantity)
     order by p.rank desc, (p.kind = 'escalation'), case p.kind when 'escalation' then coalesce(p.min_monthly_cost_usd, 0) end, p.id desc
  loop
    -- From the highest rank to the lowest, so that the last one assigned decides.
    if v_rule.kind = 'escalation' then
      v_escalation := v_rule;
      v_auto_commercial := null;
    elsif v_rule.kind = 'auto_approval' then
      if v_rule.step in ('commercial', 'both') then
        v_auto_commercial := v_rule;
        v_escalation := null;
      end if;
      if v_rule.step in ('technical', 'both') then
        v_auto_technical := v_rule;
      end if;
    elsif v_rule.step = 'commercial' then
      v_owner_route := v_rule;
    else
      v_group_route := v_rule;
    end if;
  end loop;
  v_commercial := capacity.commercial_plan(p_workspace_id, p_requester_id, p_commercial_owner_id, v_owner_route, v_escalation,
                                           v_auto_commercial);
  v_technical := capacity.technical_plan(p_workspace_id, p_requester_id, p_infra_group_id, v_group_route, v_auto_technical);
  return jsonb_build_object('commercial', v_commercial, 'technical', v_technical);
end
$$;
comment on function capacity.review_plan(text, text, text, text, text, integer, text, numeric)
  is 'Who must approve what and by which rule; raises nobody_can_approve when that would be nobody.';
