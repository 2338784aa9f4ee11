-- Notes what the registrations of this release say of a stream, a rail or a limit, and answers which of these settings the caller has to
-- apply: those that still have the value that was registered before. Another value was set by somebody, and stays. A setting that is new
-- in this release was set by nobody. Where nothing was registered before, what is set stays, except where the caller says by p_unset how
-- settings look that nobody has set.
create or replace function outbox.note_registered(p_kind text, p_name text, p_settings jsonb, p_unset jsonb default null) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_set jsonb := outbox.settings_of(p_kind, p_name);
  v_before jsonb;
begin
  select r.settings into v_before from outbox.registered_settings r where r.kind = p_kind and r.name = p_name;
  insert into outbox.registered_settings as r (kind, name, settings) values (p_kind, p_name, p_settings)
  on conflict (kind, name) do update set settings = excluded.settings where r.settings <> excluded.settings;
  v_before := coalesce(v_before, p_unset);
  return coalesce(
    (select jsonb_object_agg(e.key, e.value) from jsonb_each(p_settings) e
      where not v_before ? e.key or v_before -> e.key = v_set -> e.key),
    '{}');
end
$$;
comment on function outbox.note_registered(text, text, jsonb, jsonb)
  is 'Notes what is registered, and answers which settings are to be applied.';
