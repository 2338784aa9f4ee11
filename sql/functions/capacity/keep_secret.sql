-- Keeps what a secret is now as <name>_PREVIOUS, before it is replaced. One that is kept already is not written over: what it signed would
-- stop counting, unnoticed.
create or replace function capacity.keep_secret(p_name text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name ~ '_PREVIOUS$' then
    perform capacity.fail('invalid_input', 'Of a previous secret no previous one is kept.', p_name, 'Nothing was changed.');
  elsif exists (select from capacity.list_secrets() s where s.name = p_name || '_PREVIOUS') then
    perform capacity.fail('conflict', format('%s_PREVIOUS is kept already.', p_name), null,
      format('Nothing was changed. When nothing needs it any more: headroom secret remove %s_PREVIOUS', p_name));
  end if;
  perform capacity.set_secret(p_name || '_PREVIOUS', capacity.get_secret(p_name));
end
$$;
comment on function capacity.keep_secret(text) is 'Keeps the present value of a secret as the previous one.';
