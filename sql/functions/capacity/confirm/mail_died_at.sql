-- When a mail to a request's customer was last given up, bounced, or was not sent because the address is suppressed.
create or replace function capacity.mail_died_at(p_request_id text) returns timestamptz
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select greatest(
    (select max(greatest(x.died_at, case when d.outcome in ('bounced', 'complained') then d.outcome_at end))
       from notify.deliveries d left join outbox.dead_letters x on x.outbox_id = d.outbox_id
      where d.recipient_kind = 'customer' and d.recipient = p_request_id),
    (select max(n.created_at) from notify.parts p join notify.notifications n on n.id = p.notification_id
      where p.recipient_kind = 'customer' and p.recipient = p_request_id and p.state = 'dropped'),
    -- Mails that were enqueued before they were notifications.
    (select max(x.died_at) from outbox.dead_letters x where x.stream = 'capacity' and x.key = p_request_id || ':email'));
$$;
comment on function capacity.mail_died_at(text) is 'When a mail to a customer was last lost. Nullable: result.';
