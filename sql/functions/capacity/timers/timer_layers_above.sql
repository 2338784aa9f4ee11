-- Runs the timers of layers above (hook capacity.swept): each answers under its name how much it did, what failed, and whether
-- there is more to do.
create or replace function capacity.timer_layers_above(p_most integer, out moved jsonb, out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_answers jsonb := headroom.run_hooks('capacity.swept', jsonb_build_object('most', p_most));
begin
  select coalesce(jsonb_object_agg(a.key, a.value -> 'moved'), '{}'),
         coalesce(jsonb_agg(f.failure) filter (where f.failure is not null), '[]'),
         coalesce(bool_or((a.value -> 'more')::boolean), false)
    into moved, failed, more
    from jsonb_each(v_answers) a
    left join lateral jsonb_array_elements(a.value -> 'failed') f(failure) on true;
end
$$;
comment on function capacity.timer_layers_above(integer) is 'Runs the timers of layers above and says what they did.';
