-- A layer registers its functions, (jsonb) returns jsonb, at points of layers below it: {"outbox.captured": "capacity.keep_captures"}.
-- This replaces what it registered before. Only the owner may call it: a hook runs with the owner's rights.
create or replace function headroom.register_hooks(p_layer text, p_hooks jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  delete from headroom.hooks h where h.layer = p_layer;
  insert into headroom.hooks (point, layer, function_name) select e.key, p_layer, e.value from jsonb_each_text(p_hooks) e;
end
$$;
comment on function headroom.register_hooks(text, jsonb) is 'Registers the functions of a layer at points of lower layers.';
