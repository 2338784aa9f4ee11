-- Sets limits of destinations that have none; operators change them with limit_destination(). For the migrator's
-- registrations: {"slack:": {"min_interval_ms": 1000}}.
create or replace function outbox.ensure_limits(p_limits jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_none constant jsonb := '{"min_interval_ms": null, "failure_threshold": null, "open_base_ms": null}';
  v_name text;
  v_limits jsonb;
  v_new outbox.limits;
begin
  for v_name, v_limits in select e.key, v_none || e.value from jsonb_each(p_limits) e loop
    insert into outbox.limits (name) values (v_name) on conflict (name) do nothing;
    select * into v_new from outbox.limits l where l.name = v_name for no key update;
    v_new := jsonb_populate_record(v_new, outbox.note_registered('limit', v_name, v_limits, v_none));
    update outbox.limits l
       set min_interval_ms = v_new.min_interval_ms, failure_threshold = v_new.failure_threshold, open_base_ms = v_new.open_base_ms
     where l.name = v_name
       and (l.min_interval_ms, l.failure_threshold, l.open_base_ms)
           is distinct from (v_new.min_interval_ms, v_new.failure_threshold, v_new.open_base_ms);
  end loop;
end
$$;
comment on function outbox.ensure_limits(jsonb) is 'Sets the limits of destinations where nobody set others.';
