-- Why the key or the session of this call is no longer valid, as a sentence; null while it is. Invalid are a key that was revoked, and a
-- session in a browser that began before its member was signed out. A key without a row was never registered; only its signature is
-- checked. Never raises, because policies call it too.
--
-- Every function that finds out who calls checks this, however the request came in, because an operator can forget to set up a check before
-- every request. It is one lookup by primary key, only for callers with something that can be revoked. Decisions never use a cached answer,
-- which would have to be protected against forgery. What policies keep of it is bounded (caller/reader.sql).
create or replace function directory.revocation(p_claims jsonb default headroom.claims()) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_claims ? 'key_id' then
    perform from directory.api_keys k where k.id = p_claims ->> 'key_id' and k.revoked_at is not null;
    if found then
      return 'This key was revoked.';
    end if;
  end if;
  if p_claims ->> 'via' = 'web' then
    perform from directory.members m
      where m.workspace_id = p_claims #>> '{app_metadata,workspace_id}' and m.id = p_claims #>> '{app_metadata,member_id}'
        and m.signed_out_at >= directory.issued_at(p_claims);
    if found then
      return 'You were signed out.';
    end if;
  end if;
  return null;
end
$$;
comment on function directory.revocation(jsonb) is 'Why the key or session of the caller is no longer valid. Nullable: result.';
