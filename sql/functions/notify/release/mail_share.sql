-- How much of a mail a thing takes, in characters, of which a mail has 30,000: a stream takes 262,144 bytes, and a character takes at most
-- eight in text and HTML. A paragraph costs as much as sixteen characters, and the frame of a thing as much as sixty.
create or replace function notify.mail_share(p_told notify.notifications) returns integer
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return length(p_told.body) + 8 * (length(p_told.body) - length(replace(p_told.body, E'\n\n', ''))) + 2 * length(p_told.title)
    + coalesce(length(p_told.action_url), 0) + 60;
end
$$;
comment on function notify.mail_share(notify.notifications) is 'How much of a mail a thing takes.';
