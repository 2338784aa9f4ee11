-- A text that Slack shows as it is: a label, a hint, a title.
create or replace function notify.slack_plain(p_text text) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object('type', 'plain_text', 'text', p_text);
end
$$;
comment on function notify.slack_plain(text) is 'A plain text of Block Kit.';
