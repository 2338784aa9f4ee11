-- JSON with a value put in at a path. Missing objects on the way are made; an empty path replaces the whole.
create or replace function outbox.with_value_at(p_target jsonb, p_path text[], p_value jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_inner jsonb;
begin
  if cardinality(p_path) = 0 then
    return p_value;
  end if;
  v_inner := outbox.with_value_at(coalesce(p_target #> p_path[1:1], 'null'), p_path[2:], p_value);
  if jsonb_typeof(p_target) = 'array' then
    return jsonb_set(p_target, p_path[1:1], v_inner);
  end if;
  return case when jsonb_typeof(p_target) = 'object' then p_target else '{}' end || jsonb_build_object(p_path[1], v_inner);
end
$$;
comment on function outbox.with_value_at(jsonb, text[], jsonb) is 'JSON with a value put in at a path.';
