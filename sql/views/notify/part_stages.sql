-- How far each notification came by each channel: a held or dropped part by its own state, a carried one by its message.
create or replace view notify.part_stages as
select p.notification_id, p.channel, p.delivery_id,
       case when p.state <> 'carried' then coalesce(p.reason, p.state)
            when d.outcome is not null then d.outcome
            -- Its archive was collected, which only happens when nothing in it is under way or a dead letter.
            when o.outbox_id is null then 'past'
            when o.sent_at is not null then 'sent'
            when o.failed then 'given_up'
            when o.in_doubt then 'uncertain'
            else 'waiting' end as stage,
       coalesce(o.tries, 0) as tries, coalesce(d.outcome_at, o.sent_at) as at, d.outcome_said as said,
       p.endpoint_id
  from notify.parts p
  left join notify.deliveries d on d.id = p.delivery_id
  left join outbox.deliveries o on o.outbox_id = d.outbox_id;
comment on view notify.part_stages is 'How far each notification came by each channel.';
