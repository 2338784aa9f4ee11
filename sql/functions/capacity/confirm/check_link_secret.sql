-- Hook of headroom.secret_removed: customers have links in their mailboxes, so a secret is kept while links that it may have signed
-- can still be answered.
create or replace function capacity.check_link_secret(p_secret jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_links record;
begin
  if p_secret ->> 'name' <> 'CONFIRMATION_TOKEN_SECRET_PREVIOUS' then
    return null;
  end if;
  select count(*) as n, to_char(max(t.expires_at) at time zone 'utc', 'YYYY-MM-DD HH24:MI "UTC"') as until into v_links
    from capacity.requests r join capacity.confirmation_tokens t on t.request_id = r.id
   where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and t.used_at is null and t.expires_at > now()
     and t.created_at < (select s.updated_at from headroom.list_secrets() s where s.name = 'CONFIRMATION_TOKEN_SECRET');
  if v_links.n > 0 then
    perform headroom.fail('conflict',
      format('Links that this secret signed can still be answered: %s, the last until %s.', v_links.n, v_links.until), null,
      'Nothing was changed. Wait until then, or remove it anyway (--anyway): those customers will read that their link is not valid.');
  end if;
  return null;
end
$$;
comment on function capacity.check_link_secret(jsonb) is 'Refuses to remove a secret that open links were signed with. Nullable: result.';
