-- Why the key or the session of this call counts no more, in a sentence; null while it stands: a key that was revoked, and a session in a
-- browser that began before its member was signed out. A key without a row is one that was never registered; the signature alone speaks
-- for it. Never raises, because policies ask it too.
--
-- Whoever establishes who calls asks this, however the request came in: a gate before every request is something that an operator can
-- forget to set up. It is one look-up by primary key, for those alone who bring something that can be revoked, and so cheap that no
-- answer is kept: one that was kept would have to be guarded against forgery.
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
comment on function directory.revocation(jsonb) is 'Why the key or session of the caller counts no more. Nullable: result.';
