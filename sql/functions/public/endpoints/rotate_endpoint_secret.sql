-- A new secret for an endpoint that the caller manages; only this answer shows it. The old one also signs for the given hours.
create or replace function public.rotate_endpoint_secret(
  p_name text, p_hours integer default 24, p_workspace_id text default null, out name text, out secret text
)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_workspace_id text := directory.endpoint_workspace(p_workspace_id);
begin
  if p_hours is null or p_hours not between 0 and 720 then
    perform headroom.fail('invalid_input', 'The old secret can stay valid for 0 to 720 hours.', null, 'Nothing was changed.');
  end if;
  name := p_name;
  secret := webhooks.rotate_endpoint_secret(p_name, null, make_interval(hours => p_hours), v_workspace_id);
end
$$;
comment on function public.rotate_endpoint_secret(text, integer, text) is 'Gives a webhook endpoint a new secret, shown only now.';
