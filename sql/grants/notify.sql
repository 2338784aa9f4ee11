-- Grants of the schema `notify`: everything is revoked first, then exactly this is granted. Only the owner writes
-- tables: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('notify');

-- Members read what they were told through the views of public, which run with the caller's rights. Which rows: sql/policies/notify.sql.
grant select on notify.notifications, notify.statuses to authenticated, service_role;
grant select on notify.shown to authenticated;
-- A view reads its tables with its owner's rights, but calls functions with the caller's.
grant execute on function notify.status_rules() to authenticated, service_role, headroom_control, headroom_auditor;

-- Control and auditors read; only hashes of addresses are stored here.
grant usage on schema notify to headroom_control, headroom_auditor;
grant select on
  notify.notifications, notify.deliveries, notify.parts, notify.people, notify.preferences, notify.suppressions, notify.producers,
  notify.endings, notify.settled, notify.part_stages, notify.part_ends, notify.statuses, notify.shown, notify.own_templates,
  notify.templates
to headroom_control, headroom_auditor;
grant execute on function
  notify.list_notifications(text, text, text, text, integer),
  notify.get_notification(uuid),
  notify.list_suppressions(text, boolean, integer),
  notify.list_producers(),
  notify.channel_figures()
to headroom_control, headroom_auditor;
grant execute on function
  notify.suppress_address(text, text, text),
  notify.lift_suppression(text, text, text),
  notify.resend(uuid, text, text),
  notify.add_producer(text, text),
  notify.remove_producer(text)
to headroom_control;

-- Relays send what is due, forget what is old, and measure.
grant usage on schema notify to headroom_executor;
grant execute on function notify.release(integer), notify.send_due(), notify.dispatch(), notify.forget_old(integer)
to headroom_executor, headroom_control;
grant execute on function notify.channel_figures() to headroom_executor;
grant execute on function notify.unsubscribe_token(uuid, uuid), notify.carries_link(uuid, uuid), notify.slack_webhook_for_relay(uuid)
to headroom_executor;
