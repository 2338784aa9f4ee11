-- The active member whom the token names; null also for a key or a session that was revoked. The token says only who and in which
-- workspace (app_metadata, which its holder cannot write); the directory says what that member may do. Never raises, because policies
-- call it too: an unknown reader sees nothing.
--
-- If the id was removed before, the token must be newer than the removal: an older one may belong to another person. For a registered key
-- its row decides, because a removal revokes every key.
create or replace function directory.signed_in_member() returns directory.members
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb;
  -- Found by its key alone, with one plan for all callers: with the claims in the query, a small directory was planned again each time.
  v_workspace_id text;
  v_member_id text;
  v_member directory.members;
begin
  if current_setting('role', true) is distinct from 'authenticated' then
    return null;
  end if;
  v_claims := headroom.claims();
  if directory.revocation(v_claims) is not null then
    return null;
  end if;
  v_workspace_id := v_claims #>> '{app_metadata,workspace_id}';
  v_member_id := v_claims #>> '{app_metadata,member_id}';
  select m.* into v_member from directory.members m where m.workspace_id = v_workspace_id and m.id = v_member_id and m.active;
  if v_member.tokens_from is not null and (directory.issued_at(v_claims) > v_member.tokens_from) is not true then
    perform from directory.api_keys k
      where k.id = v_claims ->> 'key_id' and k.workspace_id = v_workspace_id and k.member_id = v_member_id and k.revoked_at is null;
    if not found then
      return null;
    end if;
  end if;
  return v_member;
end
$$;
comment on function directory.signed_in_member() is 'The active member whom the claims name, or null.';
