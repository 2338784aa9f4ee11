-- Stores the current value of a secret as <name>_PREVIOUS, before it is replaced. An existing _PREVIOUS is not overwritten: what it signed
-- would silently become invalid.
create or replace function headroom.keep_secret(p_name text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name ~ '_PREVIOUS$' then
    perform headroom.fail('invalid_input', 'A previous secret cannot have a previous one.', p_name, 'Nothing was changed.');
  elsif exists (select from headroom.list_secrets() s where s.name = p_name || '_PREVIOUS') then
    perform headroom.fail('conflict', format('%s_PREVIOUS is stored already.', p_name), null,
      format('Nothing was changed. When nothing needs it any more: headroom secret remove %s_PREVIOUS', p_name));
  end if;
  perform headroom.set_secret(p_name || '_PREVIOUS', headroom.get_secret(p_name));
end
$$;
comment on function headroom.keep_secret(text) is 'Stores the current value of a secret as the previous one.';
