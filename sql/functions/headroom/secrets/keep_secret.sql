-- Keeps what a secret is now as <name>_PREVIOUS, before it is replaced. One that is kept already is not written over: what it signed would
-- stop counting, unnoticed.
create or replace function headroom.keep_secret(p_name text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_name ~ '_PREVIOUS$' then
    perform headroom.fail('invalid_input', 'Of a previous secret no previous one is kept.', p_name, 'Nothing was changed.');
  elsif exists (select from headroom.list_secrets() s where s.name = p_name || '_PREVIOUS') then
    perform headroom.fail('conflict', format('%s_PREVIOUS is kept already.', p_name), null,
      format('Nothing was changed. When nothing needs it any more: headroom secret remove %s_PREVIOUS', p_name));
  end if;
  perform headroom.set_secret(p_name || '_PREVIOUS', headroom.get_secret(p_name));
end
$$;
comment on function headroom.keep_secret(text) is 'Keeps the present value of a secret as the previous one.';
