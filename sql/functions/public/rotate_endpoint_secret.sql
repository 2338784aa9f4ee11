-- A new secret for an endpoint that the caller keeps; this answer alone shows it. The old one signs beside it for the hours that are given.
create or replace function public.rotate_endpoint_secret(p_name text, p_hours integer default 24, out name text, out secret text)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_keeper record := capacity.endpoint_keeper(null);
begin
  perform outbox.find_endpoint(p_name, v_keeper.workspace_id, v_keeper.everything);
  if p_hours is null or p_hours not between 0 and 720 then
    perform capacity.fail('invalid_input', 'The old secret goes on for 0 to 720 hours.', null, 'Nothing was changed.');
  end if;
  name := p_name;
  secret := outbox.rotate_endpoint_secret(p_name, null, make_interval(hours => p_hours));
end
$$;
comment on function public.rotate_endpoint_secret(text, integer) is 'Gives a webhook endpoint a new secret, answered this once.';
