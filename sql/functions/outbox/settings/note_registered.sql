-- Notes what the registrations of this release say about a stream, a rail or a limit, and returns which of these settings the caller must
-- apply: those that still have the value that was registered before. Any other value was set by a person, and stays. A setting that is new
-- in this release was set by nobody. Where nothing was registered before, existing values stay, unless they equal p_unset: the values of
-- settings that nobody has set.
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
  is 'Notes what is registered, and returns which settings are to be applied.';
