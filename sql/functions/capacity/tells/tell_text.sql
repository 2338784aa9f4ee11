-- What somebody is told of a story, by the name of a template (capacity.tells): a title, and paragraphs of text.
create or replace function capacity.tell_text(p_story jsonb, p_template text, p_step text, out title text, out body text)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_text record := notify.told_text(p_story ->> 'workspace', p_template, capacity.tell_values(p_story, p_template, p_step));
begin
  title := v_text.title;
  body := v_text.body;
end
$$;
comment on function capacity.tell_text(jsonb, text, text) is 'What somebody is told. Nullable: p_step.';
