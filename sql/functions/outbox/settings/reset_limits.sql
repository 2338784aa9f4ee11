-- Gives a destination, or a kind of them, the limits that this release registers for it. From then on they follow the registration again.
create or replace function outbox.reset_limits(p_name text) returns void
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_registered outbox.limits := jsonb_populate_record(null::outbox.limits, outbox.registered_of('limit', p_name, null));
begin
  update outbox.limits l
     set min_interval_ms = v_registered.min_interval_ms, failure_threshold = v_registered.failure_threshold,
         open_base_ms = v_registered.open_base_ms, changed_at = now()
   where l.name = p_name;
end
$$;
comment on function outbox.reset_limits(text) is 'Gives a destination the limits that this release registers.';
