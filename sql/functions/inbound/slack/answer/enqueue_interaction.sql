-- Enqueues a form or a note that only one person sees: once per receipt and purpose, and only while it is useful. A form
-- opens within three seconds of the click or never. Slack's limits on one person's calls do not affect others, so each person has a
-- destination. A message that stays goes by the rail that can check whether it was posted.
create or replace function inbound.enqueue_interaction(p_receipt jsonb, p_purpose text, p_payload jsonb, p_for interval) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform outbox.add_row(false, null, 'interactions', null, 'slack:' || (p_receipt ->> 'id'), p_purpose,
                         case p_payload ->> 'method' when 'chat.postMessage' then 'slack' else 'slack-interaction' end, p_payload,
                         p_expires_at => clock_timestamp() + p_for,
                         p_destination => 'slack-interactions:' || coalesce(p_receipt ->> 'user', ''));
end
$$;
comment on function inbound.enqueue_interaction(jsonb, text, jsonb, interval)
  is 'Enqueues a form or a note for the person who sent a receipt.';
