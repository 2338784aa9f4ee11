-- Something for one person: a form or a note that only they see. Once per delivery and purpose, and only while it is of use: a form
-- opens within three seconds of the click or never.
create or replace function inbound.enqueue_interaction(p_delivery jsonb, p_purpose text, p_payload jsonb, p_for interval) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
begin
  v_row := outbox.enqueue('interactions', null, 'slack:' || (p_delivery ->> 'id'), p_purpose, 'slack-interaction', p_payload,
                          p_expires_at => clock_timestamp() + p_for);
end
$$;
comment on function inbound.enqueue_interaction(jsonb, text, jsonb, interval) is 'Enqueues a form or a note for the person who sent a delivery.';
