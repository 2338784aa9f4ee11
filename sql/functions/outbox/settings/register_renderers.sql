-- Names the functions, (jsonb) returns jsonb, that render rows of a stream when they are sent. For the migrator's registrations
-- only: anybody who could call this could run any function as the owner.
create or replace function outbox.register_renderers(p_stream text, p_renderers jsonb) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  delete from outbox.renderers r where r.stream_id = outbox.stream_id(p_stream) and not p_renderers ? r.name;
  insert into outbox.renderers as r (name, function_name, stream_id)
  select e.key, e.value, outbox.stream_id(p_stream) from jsonb_each_text(p_renderers) e
  on conflict (name) do update set function_name = excluded.function_name, stream_id = excluded.stream_id;
end
$$;
comment on function outbox.register_renderers(text, jsonb) is 'Registers the renderers of a stream.';
