-- Refuses what was called back: a key that was revoked, and a session in a browser that began before its member was signed out. Asked
-- before every request, hence one look-up by primary key at most. A key without a row is one that was never registered; the
-- signature alone speaks for it.
create or replace function capacity.check_api_key() returns void
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb := capacity.claims();
begin
  if v_claims ? 'key_id' then
    perform from capacity.api_keys k where k.id = v_claims ->> 'key_id' and k.revoked_at is not null;
    if found then
      perform capacity.fail('not_signed_in', 'This key was revoked.', null, 'Ask an operator for a new one: headroom keys token');
    end if;
  elsif v_claims ->> 'via' = 'web' then
    perform from capacity.members m
      where m.workspace_id = v_claims #>> '{app_metadata,workspace_id}' and m.id = v_claims #>> '{app_metadata,member_id}'
        and m.signed_out_at >= capacity.issued_at(v_claims);
    if found then
      perform capacity.fail('not_signed_in', 'You were signed out.', null, 'Sign in again.');
    end if;
  end if;
end
$$;
comment on function capacity.check_api_key() is 'Raises not_signed_in when the key or the session was called back.';
