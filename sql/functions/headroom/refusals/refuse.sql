-- Raises a refusal that a rule found; nothing when the rule found none. A rule that returns its refusal can be asked beforehand, for a
-- button or a preview, and cannot differ from what the action says.
create or replace function headroom.refuse(p_refusal headroom.refusal) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_refusal.code is not null then
    perform headroom.fail(p_refusal.code, p_refusal.reason, p_refusal.facts, p_refusal.hint);
  end if;
end
$$;
comment on function headroom.refuse(headroom.refusal) is 'Raises a refusal, if there is one. Nullable: p_refusal.';
