-- What a message says: the workspace's template with these values, else ours. A workspace's own that shows nothing with these values is
-- passed over: whoever should hear of something does, in our words.
create or replace function notify.told_text(
  p_workspace_id text, p_name text, p_values jsonb, p_language text default 'en', out title text, out body text
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_template record;
begin
  select o.title, o.body, t.title as their_title, t.body as their_body
    into v_template
    from notify.own_templates o
    left join notify.templates t on t.workspace_id = p_workspace_id and t.name = o.name and t.language = o.language
   where o.name = p_name and o.language = p_language;
  if v_template.their_title is not null then
    title := notify.email_text(notify.fill(v_template.their_title, p_values, 200), 200);
    body := notify.fill(v_template.their_body, p_values, 20000);
    if not notify.is_blank(title) and not notify.is_blank(body) then
      return;
    end if;
  end if;
  title := coalesce(nullif(notify.email_text(notify.fill(v_template.title, p_values, 200), 200), ''), 'News');
  body := coalesce(nullif(notify.fill(v_template.body, p_values, 20000), ''), title);
end
$$;
comment on function notify.told_text(text, text, jsonb, text) is 'What a message says. Nullable: p_workspace_id, p_values.';
