-- A section of facts in two columns: a name, its value, the next name, and so on. A fact without a value is left out.
create or replace function notify.slack_fields(variadic p_facts text[]) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_fields jsonb := '[]';
begin
  for i in 1..cardinality(p_facts) by 2 loop
    if p_facts[i + 1] <> '' then
      v_fields := v_fields || notify.slack_markup('*' || p_facts[i] || E'*\n' || p_facts[i + 1]);
    end if;
  end loop;
  return jsonb_build_object('type', 'section', 'fields', v_fields);
end
$$;
comment on function notify.slack_fields(text[]) is 'A section of Block Kit with names and values.';
