-- What is wrong with a caller's notification, as "field: what would be right", or null.
create or replace function notify.told_problem(p_key text, p_content notify.content) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_unfit constant text := '\s\u0001-\u0020"<>\\^`{|}\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff';
  -- With a host, and without a name or password before it, because those can make an address look like another site's.
  v_address constant text := format('^https?://([^%1$s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?([/?#][^%1$s]*)?$', v_unfit);
begin
  return case
    when coalesce(length(p_key) not between 1 and 512 or p_key ~ '[[:cntrl:]]', true)
      then 'idempotency_key: 1 to 512 characters, none of them control characters'
    when length(p_content.title) > 200 or notify.is_blank(p_content.title) then 'title: 1 to 200 characters'
    when p_content.title ~ '[\u0001-\u001f\u007f-\u009f]' then 'title: one line, without control characters'
    when length(p_content.body) > 20000 or notify.is_blank(p_content.body) then 'body: 1 to 20000 characters'
    when p_content.action_url is not null and (length(p_content.action_url) > 2000 or p_content.action_url !~ v_address)
      then 'action_url: an address that begins with https:// or http:// and a host, of at most 2000 characters'
    when p_content.channels is null or cardinality(p_content.channels) = 0
         or not p_content.channels <@ (array(select c.channel from notify.channels c) || 'direct'::text)
      then 'channels: one or more of ' || (select string_agg(c.channel, ', ') from notify.channels c) || ', direct'
    when p_content.priority is null or p_content.priority not between 0 and 9 then 'priority: 0 to 9, higher first'
    when p_content.expires_at <= clock_timestamp() then 'expires_at: a time in the future'
    when p_content.expires_at > clock_timestamp() + interval '366 days' then 'expires_at: within a year' end;
end
$$;
comment on function notify.told_problem(text, notify.content) is 'What is wrong with a notification. Nullable: result.';
