-- Forgets a secret. Vault has no function to delete with, so there value and name are overwritten; says which it was.
--
-- Links are in customers' mailboxes: the secret that may have signed some which can still be answered is kept, unless the caller insists.
create or replace function capacity.remove_secret(p_name text, p_anyway boolean default false) returns text
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_in_vault boolean := exists (select from capacity.list_secrets() s where s.name = p_name and s.kept_in = 'vault');
  v_links record;
begin
  if not v_in_vault and not exists (select from capacity.secrets s where s.name = p_name) then
    perform capacity.fail('not_found', 'There is no such secret.', left(p_name, 63), 'headroom secret list shows those that there are.');
  end if;
  if p_name = 'CONFIRMATION_TOKEN_SECRET_PREVIOUS' and not p_anyway then
    select count(*) as n, to_char(max(t.expires_at) at time zone 'utc', 'YYYY-MM-DD HH24:MI "UTC"') as until into v_links
      from capacity.requests r join capacity.confirmation_tokens t on t.request_id = r.id
     where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and t.used_at is null and t.expires_at > now()
       and t.created_at < (select s.updated_at from capacity.list_secrets() s where s.name = 'CONFIRMATION_TOKEN_SECRET');
    if v_links.n > 0 then
      perform capacity.fail('conflict',
        format('Links that it signed may still be answered: %s of them, the last until %s.', v_links.n, v_links.until), null,
        'Nothing was changed. Wait until then, or insist (--anyway): those customers will be told that their link is not valid.');
    end if;
  end if;
  delete from capacity.secrets s where s.name = p_name;
  if v_in_vault then
    execute 'select vault.update_secret(s.id, $2, $3) from vault.decrypted_secrets s where s.name = $1'
      using p_name, gen_random_uuid()::text, 'removed ' || gen_random_uuid();
  end if;
  return case when v_in_vault then 'overwritten' else 'removed' end;
end
$$;
comment on function capacity.remove_secret(text, boolean) is 'Forgets a secret: removed, or in Vault overwritten.';
