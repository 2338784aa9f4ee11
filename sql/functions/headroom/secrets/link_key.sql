-- The key that links are signed with. Without the current one, links can be neither made nor checked, and this refuses in the caller's
-- words. A previous one is optional, and null if there is none.
create or replace function headroom.link_key(p_secret_name text, p_said text, p_hint text) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return headroom.signing_key(p_secret_name);
exception when sqlstate 'PT503' then
  if p_secret_name !~ '_PREVIOUS$' then
    perform headroom.fail('not_configured', p_said, null, p_hint);
  end if;
  return null;
end
$$;
comment on function headroom.link_key(text, text, text) is 'The key that links are signed with. Nullable: result.';
