-- The template of that name, as the caller's workspace has it. Refuses callers who may not see it, and unknown names.
create or replace function capacity.require_template(
  p_name text, p_workspace_id text, p_language text, out workspace_id text, out actor text, out own notify.own_templates,
  out theirs notify.templates
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  select w.workspace_id, w.actor into workspace_id, actor from notify.template_workspace(p_workspace_id) w;
  select o.* into own from notify.own_templates o where o.name = p_name and o.language = p_language;
  if own.name is null then
    if exists (select from notify.own_templates o where o.name = p_name) then
      perform headroom.fail('not_found', format('There is no template %s in that language.', p_name), left(p_language, 40),
        'There are: ' || (select string_agg(o.language, ', ' order by o.language) from notify.own_templates o where o.name = p_name)
        || '. Nothing was changed.');
    end if;
    perform headroom.fail('not_found', 'There is no template of that name.', left(p_name, 40),
      'There are: ' || (select string_agg(k.name, ', ' order by k.name) from capacity.known_templates() k) || '. Nothing was changed.');
  end if;
  select t.* into theirs from notify.templates t
   where t.workspace_id = require_template.workspace_id and t.name = p_name and t.language = p_language;
end
$$;
comment on function capacity.require_template(text, text, text)
  is 'The template of that name, as the caller''s workspace has it. Nullable: p_workspace_id.';
