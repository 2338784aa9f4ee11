-- Whether each notification reached its recipient by each channel except the inbox, and when; and whether it never will. The same as
-- notify.part_stages, without reading the archive: for decisions and lists.
create or replace view notify.part_ends as
select p.notification_id, p.channel, p.endpoint_id, p.delivery_id,
       case when d.outcome is not null then case when d.outcome = 'delivered' then d.outcome_at end
            when s.sent then s.at end as reached_at,
       p.state = 'dropped'
         or case when d.outcome is not null then d.outcome <> 'delivered'
                 when s.outbox_id is not null then not s.sent
                 else exists (select from outbox.dead_letters x where x.outbox_id = d.outbox_id) end as lost
  from notify.parts p
  left join notify.deliveries d on d.id = p.delivery_id
  left join notify.settled s on s.outbox_id = d.outbox_id
 where p.channel <> 'in-app';
comment on view notify.part_ends is 'Whether each notification arrived by each channel, and when, or is lost.';
