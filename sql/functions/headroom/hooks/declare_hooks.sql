-- A layer declares the points where layers above it may add functions, with one sentence on what each is for: {"outbox.captured": "…"}. A
-- point that it declared before and no longer names is forgotten, with the functions that were registered there.
create or replace function headroom.declare_hooks(p_layer text, p_points jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  delete from headroom.hook_points p where p.layer = p_layer and not p_points ? p.point;
  insert into headroom.hook_points as p (point, layer, meaning)
  select e.key, p_layer, e.value from jsonb_each_text(p_points) e
  on conflict (point) do update set layer = excluded.layer, meaning = excluded.meaning;
end
$$;
comment on function headroom.declare_hooks(text, jsonb) is 'Declares the points where upper layers may add functions.';
