-- What a text would look like as the message of a channel, without telling anybody.
create or replace function notify.preview(
  p_workspace_id text, p_title text, p_body text, p_link jsonb, p_channel text, p_address text, p_name text
) returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_told notify.notifications;
begin
  v_told.workspace_id := p_workspace_id;
  v_told.title := notify.render_text(p_title, 200);
  v_told.body := notify.render_text(p_body, 20000);
  v_told.link := p_link;
  return case when p_channel = 'in-app' then jsonb_build_object('title', v_told.title, 'body', v_told.body)
              else notify.message(array[v_told], p_channel, p_address, p_name) end;
end
$$;
comment on function notify.preview(text, text, text, jsonb, text, text, text)
  is 'What a text would look like as a message. Nullable: p_workspace_id, p_link, p_name.';
