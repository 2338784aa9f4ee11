-- Resolves a finding: a person has checked what did not agree, and records the outcome.
create or replace function billing.resolve_finding(p_id uuid, p_actor text, p_resolution text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(length(p_actor) not between 1 and 200, true) or coalesce(length(btrim(p_resolution)) not between 1 and 500, true) then
    perform headroom.fail('invalid_input', 'A name and an outcome of 1 to 500 characters are required.', null,
                          'Nothing was changed.');
  end if;
  update billing.findings f set resolved_at = clock_timestamp(), resolved_by = p_actor, resolution = btrim(p_resolution)
   where f.id = p_id and f.resolved_at is null;
  if not found then
    perform headroom.fail('not_found', 'There is no such finding, or it is already resolved.', p_id::text, 'Nothing was changed.');
  end if;
end
$$;
comment on function billing.resolve_finding(uuid, text, text) is 'Records that a person has resolved a finding.';
