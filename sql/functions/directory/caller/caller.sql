-- Who calls, as far as the connection proves it. Every entrance begins here; arguments that a caller passes prove nothing.
--
--   member   a token that names an active member of the directory; acts as that member only
--   service  a machine's key (service_role); may act for any active member
--   sql      a login that was made a member of headroom_control, or the owner; may act for any active member too
--   anon     anybody else. An inherited right to execute something gives no more than that.
--
-- A key or a session that was revoked is refused, whether or not it was checked before.
create or replace function directory.caller(out kind text, out workspace_id text, out member_id text, out via text)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_gateway boolean := session_user in ('authenticator', 'headroom_gateway');
  -- Inside a definer function current_user is the owner; this setting still shows the role that the caller took on.
  v_role name := coalesce(nullif(nullif(current_setting('role', true), ''), 'none'), session_user);
  v_claims jsonb;
  v_member directory.members;
begin
  if v_role = 'authenticated' then
    v_member := directory.signed_in_member();
    if v_member.id is null then
      perform directory.check_api_key();
      perform headroom.fail('not_signed_in', 'You are not signed in as an active member of a workspace.', null,
        'Sign in again. If that does not help, ask an admin of the workspace whether you are in its directory.');
    end if;
    kind := 'member';
    workspace_id := v_member.workspace_id;
    member_id := v_member.id;
    via := case when headroom.claims() ->> 'via' = 'web' then 'web' else 'api' end;
  elsif v_role = 'service_role' then
    if directory.revocation() is not null then
      perform directory.check_api_key();
    end if;
    v_claims := headroom.claims();
    kind := 'service';
    via := case when not v_gateway then 'cli:' || session_user
                when v_claims ->> 'key_id' ~ '^[A-Za-z0-9._-]{1,64}$' then 'service:' || (v_claims ->> 'key_id')
                else 'service:key' end;
  elsif not v_gateway and (pg_has_role(v_role, 'headroom_control', 'usage') or pg_has_role(v_role, 'headroom_owner', 'usage')) then
    kind := 'sql';
    via := 'cli:' || session_user;
  else
    kind := 'anon';
    via := 'api';
  end if;
end
$$;
comment on function directory.caller()
  is 'Who calls: member, service, sql or anon, and through which entrance. Nullable: workspace_id, member_id.';
