-- Calls the functions that upper layers registered at a point, in the caller's transaction, and returns their answers as one object: if one
-- refuses, everything is refused. Without a hook the answer is empty, as it is where the engine is installed alone. Two hooks
-- of one point must not answer the same field.
create or replace function headroom.run_hooks(p_point text, p_argument jsonb) returns jsonb
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_function text;
  v_answer jsonb;
  v_answers jsonb := '{}';
begin
  for v_function in select h.function_name from headroom.hooks h where h.point = p_point order by h.layer loop
    execute format('select %s($1)', v_function) into v_answer using p_argument;
    if v_answers ?| array(select jsonb_object_keys(v_answer)) then
      perform headroom.fail('conflict', format('Two hooks of %s answer the same field.', p_point), v_function);
    end if;
    v_answers := v_answers || coalesce(v_answer, '{}');
  end loop;
  return v_answers;
end
$$;
comment on function headroom.run_hooks(text, jsonb) is 'Calls the hooks of a point and merges their answers.';
