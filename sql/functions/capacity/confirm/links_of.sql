-- The mails with the customer's link, sent or still to be sent: the first one, repeats, and the warning before the deadline (`warns`). A
-- mail is lost when it was given up or skipped, bounced, or was not sent at all. One that is named but has no row yet is being made at
-- this moment.
create or replace function capacity.links_of(p_request_id text)
returns table (warns boolean, asked_at timestamptz, notice_id bigint, outbox_id uuid, lost boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with named as (
    select e.workspace_id, f.effect, false as warns, e.created_at as asked_at, null::bigint as notice_id,
           e.request_id || '#' || e.seq as instruction_id
      from capacity.events e cross join lateral unnest(e.effects) f(effect)
     where e.request_id = p_request_id and (f.effect = 'email:confirmation' or f.effect = 'tell:customer'
                                            and e.state_after = 'CUSTOMER_CONFIRMATION_REQUIRED')
    union all
    select r.workspace_id, f.effect, n.kind = 'warning', n.created_at, n.id, n.request_id || '!' || n.id
      from capacity.notices n join capacity.requests r on r.id = n.request_id cross join lateral unnest(n.effects) f(effect)
     where n.request_id = p_request_id and n.kind in ('warning', 'address', 'link', 'payment_failed')
       and f.effect in ('email:confirmation', 'email:warning', 'tell:customer'))
  select w.warns, w.asked_at, w.notice_id, d.outbox_id,
         coalesce(s.lost, false)
    from named w
    left join notify.notifications t on t.workspace_id = w.workspace_id and t.recipient_kind = 'customer' and t.recipient = p_request_id
      and t.idempotency_key = w.instruction_id || '/customer'
    left join notify.part_ends s on s.notification_id = t.id and s.channel = 'email'
    left join notify.deliveries d on d.id = s.delivery_id
   where w.effect = 'tell:customer'
  union all
  -- Mails that were enqueued before they were notifications.
  select w.warns, w.asked_at, w.notice_id, d.outbox_id, d.outbox_id is not null and outbox.is_lost(d.outbox_id)
    from named w
    left join outbox.rows d on d.stream_id = (select outbox.stream_id('capacity')) and d.instruction_id = w.instruction_id
      and d.idempotency_key = w.effect
   where w.effect <> 'tell:customer';
end
$$;
comment on function capacity.links_of(text)
  is 'The mails with the customer''s link, and whether each was lost. Nullable: notice_id, outbox_id.';
