-- At which field of a form a refusal belongs. Refusals of terms begin their facts with the term. Pure.
create or replace function inbound.refused_field(p_callback text, p_message text, p_facts text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_callback = 'capacity_reason' then
    return 'reason';
  elsif p_callback in ('capacity_note', 'capacity_link') then
    return case p_callback when 'capacity_note' then 'note' else 'email' end;
  end if;
  return case substring(p_facts from '^([a-z_]+):')
    when 'requested_size' then 'size' when 'quantity' then 'quantity' when 'region' then 'region' when 'needed_by_date' then 'needed_by'
    when 'expected_duration_days' then 'days' when 'estimated_monthly_cost_usd' then 'cost'
    else case when p_message ~ 'commercial' then 'owner' when p_message ~ 'technical|infra group' then 'group'
              when p_message ~ 'customer_ref' then 'customer' else 'size' end end;
end
$$;
comment on function inbound.refused_field(text, text, text) is 'The field of a form under which a refusal is shown.';
