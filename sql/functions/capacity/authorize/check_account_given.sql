-- Hook of directory.account_given: a requester must not be able to review their own request under another id, so their requests end first.
create or replace function capacity.check_account_given(p_given jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_open text[] := array(
    select r.id from capacity.requests r
     where r.workspace_id = p_given ->> 'workspace_id' and r.requester_user_id = p_given ->> 'member_id'
       and r.state in ('SUBMITTED', 'UNDER_REVIEW', 'CUSTOMER_CONFIRMATION_REQUIRED', 'PROVISIONING')
     order by r.id limit 6);
begin
  if v_open <> '{}' then
    perform headroom.fail('conflict',
      format('The account was that of "%s", who asked for %s%s. Under another id, the same person could review that.',
             p_given ->> 'member_id', array_to_string(v_open[1:5], ', '), case when cardinality(v_open) > 5 then ' and more' end), null,
      'Wait until these requests have ended, or cancel them (headroom request cancel). Nothing was changed.');
  end if;
  return null;
end
$$;
comment on function capacity.check_account_given(jsonb)
  is 'Refuses to give somebody''s account to another while they have open requests. Nullable: result.';
