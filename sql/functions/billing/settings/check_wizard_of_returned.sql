-- Hook of directory.member_returned: a wizard that still submits as this id would reopen in the name of its new holder, who could then read
-- what customers order.
create or replace function billing.check_wizard_of_returned(p_member jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  perform from billing.settings s
    where s.workspace_id = p_member ->> 'workspace_id' and s.self_service_requester = p_member ->> 'member_id';
  if found then
    perform headroom.fail('conflict', format('The self-service wizard still submits as "%s".', p_member ->> 'member_id'), null,
      'Its orders would belong to the person who has this id now. Name another member, or close it: headroom prices settings '
      '--self-service or --no-self-service. Nothing was changed.');
  end if;
  return null;
end
$$;
comment on function billing.check_wizard_of_returned(jsonb)
  is 'Refuses a member''s return while the wizard submits as the id. Nullable: result.';
