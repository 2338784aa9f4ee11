-- The status of each notification over all its channels: that of the worst unfinished one, otherwise of the best.
create or replace view notify.statuses as
select n.id as notification_id, coalesce(s.status, 'failed') as status, coalesce(s.tries, 0)::integer as attempt_count,
       s.last_attempt_at, s.delivered_at, s.error_message
  from notify.notifications n
  left join lateral (
       select (array_agg(r.status order by r.finished, case when r.finished then -r.rank else r.rank end))[1] as status,
              sum(p.tries) as tries, max(p.at) as last_attempt_at, max(p.at) filter (where r.status = 'delivered') as delivered_at,
              string_agg(format('%s: %s', p.channel, r.meaning), '; ' order by p.channel)
                filter (where r.status = 'failed') as error_message
         from notify.part_stages p join notify.status_rules() r on r.stage = p.stage
        where p.notification_id = n.id) s on true;
comment on view notify.statuses is 'The status of each notification, over all channels.';
