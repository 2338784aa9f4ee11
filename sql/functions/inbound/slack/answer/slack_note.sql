-- A note that only the person who clicked sees, where they clicked. Receipts without a channel (a form, a shortcut) are answered in
-- their conversation with the app: ephemeral messages do not work there, and a person's id can serve as the channel only for posting.
create or replace function inbound.slack_note(p_receipt jsonb, p_text text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform inbound.enqueue_interaction(p_receipt, 'note', jsonb_strip_nulls(case
    when p_receipt ? 'channel' then jsonb_build_object(
      'method', 'chat.postEphemeral', 'channel', p_receipt ->> 'channel', 'user', p_receipt ->> 'user',
      'thread_ts', p_receipt ->> 'thread_ts')
    else jsonb_build_object('method', 'chat.postMessage', 'channel', p_receipt ->> 'user') end
    || jsonb_build_object('text', notify.slack_text(p_text, 3000))), interval '5 minutes');
end
$$;
comment on function inbound.slack_note(jsonb, text)
  is 'Enqueues a note to the person who clicked, in the channel where they did, or to them directly.';
