-- The address of the webhook that one of our messages goes to, in the clear: only for relays, which hold the key that opens it. It is found
-- by the message alone, whatever the message says: for a row that an application wrote it finds none. If it cannot be read, the send is
-- tried again, because another relay may have the key.
create or replace function notify.slack_webhook_for_relay(p_outbox_id uuid) returns text
language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_delivery notify.deliveries;
  v_url text;
begin
  select d.* into v_delivery from notify.deliveries d
    join notify.people w on w.workspace_id = d.workspace_id and w.member_id = d.recipient and w.slack_webhook
   where d.outbox_id = p_outbox_id and d.channel = 'slack' and d.recipient_kind = 'member';
  if not found then
    perform headroom.fail('not_found', 'There is no webhook for this message.');
  end if;
  v_url := headroom.open_box(notify.webhook_box(v_delivery.workspace_id, v_delivery.recipient));
  if v_url is null then
    perform headroom.fail('not_configured', 'The webhook cannot be read here.', null,
                          'Give this relay the HEADROOM_SECRET_KEY under which it was stored.');
  end if;
  return v_url;
end
$$;
comment on function notify.slack_webhook_for_relay(uuid) is 'The address of the webhook that a message goes to, for relays.';
