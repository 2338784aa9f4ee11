-- All templates, and which of them the workspace has replaced by its own text.
create or replace function public.list_notification_templates(p_workspace_id text default null)
returns table (name text, language text, audience text, meaning text, changed boolean, updated_at timestamptz, updated_by text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace_id text := (notify.template_workspace(p_workspace_id)).workspace_id;
begin
  return query
  select o.name, o.language, k.audience, k.meaning, t.name is not null, t.updated_at, t.updated_by
    from capacity.known_templates() with ordinality k
    join notify.own_templates o on o.name = k.name
    left join notify.templates t on t.workspace_id = v_workspace_id and t.name = o.name and t.language = o.language
   order by k.ordinality, o.language;
end
$$;
comment on function public.list_notification_templates(text)
  is 'All templates, and which the workspace has replaced. Nullable: p_workspace_id, updated_at, updated_by.';
