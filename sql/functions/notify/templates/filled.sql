-- What a message says: the workspace's template with these values, otherwise ours. If the workspace's own shows nothing with these values,
-- it is ignored: the recipient is told in our words.
create or replace function notify.filled(
  p_title text, p_body text, p_their_title text, p_their_body text, p_values jsonb, out title text, out body text
)
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_their_title is not null then
    title := notify.email_text(notify.fill(p_their_title, p_values, 200), 200);
    body := notify.fill(p_their_body, p_values, 20000);
    if not notify.is_blank(title) and not notify.is_blank(body) then
      return;
    end if;
  end if;
  title := coalesce(nullif(notify.email_text(notify.fill(p_title, p_values, 200), 200), ''), 'News');
  body := coalesce(nullif(notify.fill(p_body, p_values, 20000), ''), title);
end
$$;
comment on function notify.filled(text, text, text, text, jsonb)
  is 'What a message says. Nullable: p_title, p_body, p_their_title, p_their_body, p_values.';
