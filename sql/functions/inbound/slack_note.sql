-- A note that only the person who clicked sees, where they clicked. Without a channel there is no place for one.
create or replace function inbound.slack_note(p_delivery jsonb, p_text text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  if p_delivery ? 'channel' then
    perform inbound.enqueue_interaction(p_delivery, 'note', jsonb_strip_nulls(jsonb_build_object(
      'method', 'chat.postEphemeral', 'channel', p_delivery ->> 'channel', 'user', p_delivery ->> 'user', 'thread_ts', p_delivery ->> 'thread_ts',
      'text', capacity.slack_text(p_text, 3000))), interval '5 minutes');
  end if;
end
$$;
comment on function inbound.slack_note(jsonb, text) is 'Enqueues a note to the person who clicked, in the channel where they did.';
