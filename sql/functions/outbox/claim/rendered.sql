-- Renders a row's payload now. The renderer must be registered for the row's own stream, because renderers read as the owner.
create or replace function outbox.rendered(p_stream_id smallint, p_renderer text, p_payload jsonb) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_function text;
  v_made jsonb;
begin
  select r.function_name into v_function from outbox.renderers r where r.name = p_renderer and r.stream_id = p_stream_id;
  if not found then
    perform headroom.fail('not_found', 'The stream has no such renderer.', left(p_renderer, 80));
  end if;
  execute format('select %s($1)', v_function) into v_made using p_payload;
  if v_made is null then
    perform headroom.fail('not_found', 'It returned null.', v_function);
  end if;
  return v_made;
end
$$;
comment on function outbox.rendered(smallint, text, jsonb) is 'What a renderer of a stream makes of a payload.';
