-- Forgets a secret and returns how: removed, or overwritten in Vault. A layer that still needs it refuses, unless the caller insists.
create or replace function headroom.remove_secret(p_name text, p_anyway boolean default false) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept_in text;
begin
  select s.kept_in into v_kept_in from headroom.list_secrets() s where s.name = p_name limit 1;
  if not found and not exists (select from headroom.boxes b where b.name = p_name) then
    perform headroom.fail('not_found', 'There is no such secret.', left(p_name, 63), 'List them: headroom secret list');
  end if;
  if not p_anyway then
    perform headroom.run_hooks('headroom.secret_removed', jsonb_build_object('name', p_name));
  end if;
  perform headroom.forget_in_vault(headroom.drop_boxes(array[p_name]));
  return case when v_kept_in = 'vault' then 'overwritten' else 'removed' end;
end
$$;
comment on function headroom.remove_secret(text, boolean) is 'Forgets a secret: removed, or in Vault overwritten.';
