-- Stores the secret that a workspace's runs sign their callbacks with. The previous one stays valid until the next is stored, or until it
-- is dropped, because runs that are under way sign with it.
create or replace function provisioning.put_secret(p_workspace_id text, p_value text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := provisioning.secret_name(p_workspace_id);
  v_before text := headroom.open_box(v_name);
begin
  if not exists (select from directory.workspaces w where w.id = p_workspace_id) then
    perform headroom.fail('not_found', 'There is no such workspace.', left(p_workspace_id, 80));
  elsif p_value is null or octet_length(p_value) not between 32 and 1024 or p_value ~ '[[:cntrl:]]' then
    perform headroom.fail('invalid_input', 'A secret to sign with has 32 to 1024 bytes, none of them control characters.', null,
      'Take for example the output of: openssl rand -hex 32');
  end if;
  if v_before <> p_value then
    perform headroom.keep_box(v_name || ':previous', format('previous callback secret of workspace %s', p_workspace_id), v_before);
  end if;
  perform headroom.keep_box(v_name, format('callback secret of workspace %s', p_workspace_id), p_value);
end
$$;
comment on function provisioning.put_secret(text, text) is 'Stores or replaces the callback secret of a workspace.';
