-- Hook of directory.member_returned: a rule that still names the id would apply to whoever has it now, so it is changed first.
create or replace function capacity.check_rules_of_returned(p_member jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_rules text;
begin
  select string_agg(p.id, ', ' order by p.id) into v_rules
    from capacity.policies p where p.workspace_id = p_member ->> 'workspace_id' and p.approver_id = p_member ->> 'member_id' and p.enabled;
  if v_rules is not null then
    perform headroom.fail('conflict', format('Rules still name "%s": %s.', p_member ->> 'member_id', v_rules), null,
      'They would apply to whoever has this id now. Change or disable them first: headroom policy put. Nothing was changed.');
  end if;
  return null;
end
$$;
comment on function capacity.check_rules_of_returned(jsonb) is 'Refuses a member''s return while rules name the id. Nullable: result.';
