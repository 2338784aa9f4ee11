-- Changes the text of a message in a workspace, from the next message on. Existing notifications do not change.
create or replace function public.set_notification_template(
  p_name text, p_title text, p_body text, p_workspace_id text default null, p_language text default 'en'
) returns jsonb
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.require_template(p_name, p_workspace_id, p_language);
  v_title text := notify.tidy_template(p_title);
  v_body text := notify.tidy_template(p_body);
  v_theirs notify.templates;
begin
  perform capacity.refuse_template(v_found.workspace_id, p_name, v_title, v_body);
  insert into notify.templates as t (workspace_id, name, language, title, body, updated_by)
  values (v_found.workspace_id, p_name, p_language, v_title, v_body, v_found.actor)
  on conflict (workspace_id, name, language) do update
    set title = excluded.title, body = excluded.body, updated_by = excluded.updated_by, updated_at = clock_timestamp()
  returning t.* into v_theirs;
  return capacity.show_template(v_found.own, v_theirs);
end
$$;
comment on function public.set_notification_template(text, text, text, text, text)
  is 'Changes the text of a message in a workspace. Nullable: p_workspace_id.';
