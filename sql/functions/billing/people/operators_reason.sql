-- Money is sent back, and a subscription ended, by an operator or an admin of the workspace, who says why: the reason as it is kept.
create or replace function billing.operators_reason(p_workspace_id text, p_actor capacity.actor, p_deed text, p_reason text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text := btrim(p_reason, E' \n\t');
begin
  if not exists (select from directory.members m where m.workspace_id = p_workspace_id and m.id = p_actor.id and m.active
                    and m.roles && array['operator', 'admin']) then
    perform headroom.fail('not_allowed', format('Only an operator or an admin %s.', p_deed), null, 'Nothing was changed.');
  elsif coalesce(length(v_reason), 0) not between 1 and 2000 or v_reason !~ '[^\s\u00a0\u200b-\u200f\u2028-\u202f\u2060\ufeff]'
     or v_reason ~ '[\u0001-\u0008\u000b-\u001f\u007f-\u009f]' then
    perform headroom.fail('invalid_input', 'This needs a reason: 1 to 2000 characters, none of them control characters.', null,
                          'Nothing was changed.');
  end if;
  return v_reason;
end
$$;
comment on function billing.operators_reason(text, capacity.actor, text, text)
  is 'The reason that an operator or an admin gives; anybody else is refused.';
