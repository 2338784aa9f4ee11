-- Why a member may not refund money or end a subscription, or null: only an operator or an admin of the workspace does.
create or replace function billing.operator_refusal(p_workspace_id text, p_member_id text, p_deed text) returns headroom.refusal
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from directory.members m where m.workspace_id = p_workspace_id and m.id = p_member_id and m.active
                and m.roles && array['operator', 'admin']) then
    return null;
  end if;
  return row('not_allowed', format('Only an operator or an admin %s.', p_deed), null, 'Nothing was changed.')::headroom.refusal;
end
$$;
comment on function billing.operator_refusal(text, text, text) is 'Why a member may not refund or end a subscription. Nullable: result.';
