-- The active member whom the token names, or null; nobody by a key or a session that was revoked. The token says only who and in which
-- workspace (app_metadata, which its holder cannot write); what that member may do stands in the directory. Never raises, because
-- policies ask it too: a reader whom nobody knows sees nothing.
create or replace function capacity.signed_in_member() returns capacity.members
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb;
  v_member capacity.members;
begin
  if current_setting('role', true) is distinct from 'authenticated' then
    return null;
  end if;
  v_claims := capacity.claims();
  if capacity.revocation(v_claims) is not null then
    return null;
  end if;
  select m.* into v_member
    from capacity.members m
   where m.workspace_id = v_claims #>> '{app_metadata,workspace_id}' and m.id = v_claims #>> '{app_metadata,member_id}' and m.active;
  return v_member;
end
$$;
comment on function capacity.signed_in_member() is 'The active member whom the claims name, or null.';
