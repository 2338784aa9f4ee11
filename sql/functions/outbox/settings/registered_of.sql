-- What is registered for these settings of a stream or a limit, for operators who reset to it; all of them where none is named.
create or replace function outbox.registered_of(p_kind text, p_name text, p_settings text[]) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_registered jsonb;
  v_unknown text;
begin
  select r.settings into v_registered from outbox.registered_settings r where r.kind = p_kind and r.name = p_name;
  if not found then
    perform headroom.fail('not_found', format('Nothing is registered for the %s "%s".', p_kind, left(p_name, 80)), null,
      'Only what Headroom itself registers can be reset. Nothing was changed.');
  end if;
  select string_agg(n, ', ') into v_unknown from unnest(p_settings) n where not v_registered ? n;
  if v_unknown is not null then
    perform headroom.fail('invalid_input', format('The %s "%s" has no such setting: %s.', p_kind, left(p_name, 80), left(v_unknown, 200)),
      'registered are ' || (select string_agg(k, ', ' order by k) from jsonb_object_keys(v_registered) k), 'Nothing was changed.');
  end if;
  return (select coalesce(jsonb_object_agg(e.key, e.value), '{}') from jsonb_each(v_registered) e
           where p_settings is null or e.key = any (p_settings));
end
$$;
comment on function outbox.registered_of(text, text, text[]) is 'What is registered for some settings.';
