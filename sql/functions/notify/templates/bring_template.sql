-- Stores one of our own templates: the text of its file. The first line is the title, and what follows after an empty line is the body.
-- Called by the migrator for each file of sql/templates that changed.
create or replace function notify.bring_template(p_name text, p_language text, p_text text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_title text := split_part(p_text, E'\n', 1);
  v_body text := rtrim(substr(p_text, length(v_title) + 3), E'\n');
begin
  if substr(p_text, length(v_title) + 1, 2) <> E'\n\n' then
    perform headroom.fail('invalid_input', format('The template %s does not begin with a title and an empty line.', p_name));
  end if;
  insert into notify.own_templates as o (name, language, title, body) values (p_name, p_language, v_title, v_body)
  on conflict (name, language) do update set title = excluded.title, body = excluded.body
   where (o.title, o.body) is distinct from (excluded.title, excluded.body);
end
$$;
comment on function notify.bring_template(text, text, text) is 'Stores a template that comes with the release.';
