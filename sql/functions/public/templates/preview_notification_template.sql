-- The messages with this title and body, for each sample and by each channel; with the workspace's text if none is
-- given. Refuses what set_notification_template() would refuse. Changes nothing and sends nothing.
create or replace function public.preview_notification_template(
  p_name text, p_title text default null, p_body text default null, p_workspace_id text default null, p_language text default 'en'
) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record := capacity.require_template(p_name, p_workspace_id, p_language);
  v_title text := coalesce(notify.tidy_template(p_title), (v_found.theirs).title, (v_found.own).title);
  v_body text := coalesce(notify.tidy_template(p_body), (v_found.theirs).body, (v_found.own).body);
begin
  perform capacity.refuse_template(v_found.workspace_id, p_name, v_title, v_body);
  return capacity.preview_template(v_found.workspace_id, p_name, v_title, v_body);
end
$$;
comment on function public.preview_notification_template(text, text, text, text, text)
  is 'A preview of a message. Nullable: p_title, p_body, p_workspace_id.';
