-- The values that templates have for a problem: counts, names and codes, never the content or the recipient of a message. `count` is set
-- only if it is more than one; the facts are those of capacity.tell_dead_letters() and tell_circuits().
create or replace function capacity.problem_values(p_facts jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_count text := nullif(p_facts ->> 'count', '1');
  v_name text := p_facts #>> '{destinations,0,name}';
begin
  return jsonb_build_object(
    'count', v_count,
    'summary', coalesce(upper(left(v_name, 1)) || substr(v_name, 2), (
      select string_agg(concat_ws(' ', r ->> 'rail', case when v_count is not null then r ->> 'count' end), ', ' order by n)
        from jsonb_array_elements(p_facts -> 'rails') with ordinality x(r, n))),
    'list', coalesce((
      select string_agg(concat_ws(', ', '• ' || (d ->> 'name'), 'last error ' || (d ->> 'code')), E'\n' order by n)
        from jsonb_array_elements(p_facts -> 'destinations') with ordinality x(d, n)), (
      select string_agg(format('• stream %s by %s: %s, last error %s', s ->> 'stream', s ->> 'rail', s ->> 'count', s ->> 'code'), E'\n'
                        order by n)
        from jsonb_array_elements(p_facts -> 'streams') with ordinality x(s, n))));
end
$$;
comment on function capacity.problem_values(jsonb) is 'The values that templates have for a problem.';
