-- Registers rails before any relay has declared them, so that rows may name them: {"slack": {"capability": "lookup", "timeout_ms": 15000,
-- "guarded": true, "credentials": ["SLACK_BOT_TOKEN"]}}. A guarded rail uses the installation's credentials, so only streams with a grant
-- may use it. Credentials are the stored secrets that relays are given for it: anyone who may run relays can read a secret named here. Both
-- follow a changed registration. So does the time-out, until a relay declares another when it starts. What a rail can prove is fixed. For
-- the migrator's registrations.
create or replace function outbox.ensure_rails(p_rails jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_new outbox.rails;
  v_old outbox.rails;
begin
  for v_new in
    select r.*
      from jsonb_each(p_rails) e
     cross join lateral jsonb_populate_record(null::outbox.rails,
             '{"guarded": false, "credentials": []}'::jsonb || e.value || jsonb_build_object('name', e.key)) r
  loop
    select * into v_old from outbox.rails r where r.name = v_new.name;
    if not found then
      insert into outbox.rails (name, capability, timeout_ms) values (v_new.name, v_new.capability, v_new.timeout_ms);
    elsif v_old.capability <> v_new.capability then
      perform headroom.fail('conflict', format('Rail "%s" is registered as %s, not as %s.', v_new.name, v_old.capability, v_new.capability),
        'what a rail can prove is fixed when it is first registered', 'Give the rail another name. Nothing was changed.');
    end if;
    v_new.timeout_ms := (outbox.settings_of('rail', v_new.name)
      || outbox.note_registered('rail', v_new.name, jsonb_build_object('timeout_ms', v_new.timeout_ms)) ->> 'timeout_ms')::integer;
    update outbox.rails r set timeout_ms = v_new.timeout_ms, guarded = v_new.guarded, credentials = v_new.credentials
     where r.name = v_new.name
       and (r.timeout_ms, r.guarded, r.credentials) is distinct from (v_new.timeout_ms, v_new.guarded, v_new.credentials);
  end loop;
end
$$;
comment on function outbox.ensure_rails(jsonb) is 'Registers rails, and applies what their registrations changed.';
