-- Only an operator or an admin of the workspace refunds money or ends a subscription, and says why. Returns the reason as it is kept.
create or replace function billing.operators_reason(p_workspace_id text, p_actor capacity.actor, p_deed text, p_reason text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from directory.members m where m.workspace_id = p_workspace_id and m.id = p_actor.id and m.active
                    and m.roles && array['operator', 'admin']) then
    perform headroom.fail('not_allowed', format('Only an operator or an admin %s.', p_deed), null, 'Nothing was changed.');
  end if;
  return headroom.reason_in(p_reason);
end
$$;
comment on function billing.operators_reason(text, capacity.actor, text, text)
  is 'The reason that an operator or an admin gives; anybody else is refused.';
