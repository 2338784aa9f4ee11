-- What a message says, by the name of its template, in the workspace's words or otherwise in ours (notify.filled).
create or replace function notify.told_text(
  p_workspace_id text, p_name text, p_values jsonb, p_language text default 'en', out title text, out body text
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  select f.title, f.body
    into title, body
    from notify.own_templates o
    left join notify.templates t on t.workspace_id = p_workspace_id and t.name = o.name and t.language = o.language
   cross join lateral notify.filled(o.title, o.body, t.title, t.body, p_values) f
   where o.name = p_name and o.language = p_language;
end
$$;
comment on function notify.told_text(text, text, jsonb, text) is 'What a message says. Nullable: p_workspace_id, p_values.';
