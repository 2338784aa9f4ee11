-- The reviews that wait for a person, one line each; of a long list the beginning, and how many more there are.
create or replace function capacity.story_digest(p_story jsonb) returns text[]
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_items jsonb := case jsonb_typeof(p_story -> 'items') when 'array' then p_story -> 'items' else '[]' end;
  v_lines text[];
  v_more integer := greatest(jsonb_array_length(v_items) - 50, 0)
    + case jsonb_typeof(p_story -> 'others') when 'number' then (p_story -> 'others')::integer else 0 end;
begin
  v_lines := array(
    select notify.render_text(format('%s: %s, %s review, open since %s', i ->> 'id', i ->> 'what', i ->> 'step',
                                       coalesce(capacity.render_time(i -> 'since'), 'its beginning')), 140)
      from jsonb_array_elements(v_items) with ordinality n(i, ord) order by n.ord limit 50);
  return case when v_more > 0 then v_lines || format('and %s more', v_more) else v_lines end;
end
$$;
comment on function capacity.story_digest(jsonb) is 'Lines that name the reviews of a reminder.';
