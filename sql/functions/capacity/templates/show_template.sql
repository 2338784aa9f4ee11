-- A template as its admins see it: the text in use, our text, and its variables.
create or replace function capacity.show_template(p_own notify.own_templates, p_theirs notify.templates) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
    'name', p_own.name, 'language', p_own.language, 'title', coalesce(p_theirs.title, p_own.title),
    'body', coalesce(p_theirs.body, p_own.body), 'changed', p_theirs.name is not null, 'updated_at', p_theirs.updated_at,
    'updated_by', p_theirs.updated_by, 'own', jsonb_build_object('title', p_own.title, 'body', p_own.body),
    'audience', (select k.audience from capacity.known_templates() k where k.name = p_own.name),
    'meaning', (select k.meaning from capacity.known_templates() k where k.name = p_own.name),
    'variables', (select coalesce(jsonb_agg(jsonb_build_object(
                           'variable', v.variable, 'required', p_own.name = any (v.required), 'meaning', v.meaning,
                           'example', v.example) order by v.ordinality), '[]')
                    from capacity.template_variables() with ordinality v where p_own.name = any (v.templates)));
end
$$;
comment on function capacity.show_template(notify.own_templates, notify.templates)
  is 'A template as its admins see it. Nullable: p_theirs.';
