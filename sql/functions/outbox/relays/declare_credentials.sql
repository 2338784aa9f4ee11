-- Says which stored secrets relays are given for each guarded rail: {"slack": ["SLACK_BOT_TOKEN"]}. For the migrator's registrations alone:
-- a name that stands here can be read by whoever may run relays.
create or replace function outbox.declare_credentials(p_credentials jsonb) returns void
language sql volatile set search_path = pg_catalog, pg_temp
as $$
  update outbox.rails r set credentials = array(select jsonb_array_elements_text(c.value) order by 1)
    from jsonb_each(p_credentials) c
   where r.name = c.key and r.credentials <> array(select jsonb_array_elements_text(c.value) order by 1)
$$;
comment on function outbox.declare_credentials(jsonb) is 'Says which stored secrets relays are given for each guarded rail.';
