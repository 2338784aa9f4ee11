-- How a notification goes by each of its channels: what the person chose, whether they can be reached there, when, and together with what.
-- Notifications about one thing wait for ten seconds, so that a burst is one message. Critical ones ignore choices and quiet hours, and
-- never wait; the same holds for endpoints, which are not people: each endpoint that takes notifications gets its own part. One plan is
-- kept for all, because making one takes longer than running it.
create or replace function notify.parts_for(p_told notify.notifications, p_now timestamptz) returns notify.parts[]
language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
  return (select array_agg(row(n.id, c.channel,
           case when why.reason is not null then 'dropped' when c.leaves then 'held' else 'shown' end, why.reason, null,
           n.workspace_id, n.recipient_kind, n.recipient,
           case when n.critical or not c.waits then '' when t.choice = 'digest' then 'digest'
                else coalesce('about:' || n.about, '') end,
           n.priority,
           case when n.critical or not c.waits then p_now
                else notify.due_at(w, t.choice, case when n.about is not null and p_now + interval '10 seconds' < n.expires_at
                                                     then p_now + interval '10 seconds' else p_now end, n.expires_at) end,
           n.expires_at, coalesce(e.endpoint_id, ''))::notify.parts order by c.channel, e.endpoint_id)
    from (select p_told.*) n
    join notify.channels c on c.channel = any (n.channels)
    left join lateral notify.endpoints_for(n.workspace_id) e(endpoint_id) on c.to_endpoints and n.recipient_kind = any (c.recipients)
    left join notify.people w on n.recipient_kind = 'member' and w.workspace_id = n.workspace_id and w.member_id = n.recipient
   cross join lateral (
         select coalesce((select p.choice from notify.preferences p
                           where p.workspace_id = n.workspace_id and p.whose = notify.whose(p_told) and p.category = n.category
                             and p.channel = c.channel), 'on') as choice) t
   cross join lateral (
         select case when n.expires_at <= p_now then 'expired' when not n.critical and t.choice = 'off' then 'preference'
                     when c.to_endpoints and e.endpoint_id is null then 'no_address'
                     when c.leaves
                     then (notify.reach(notify.recipient(n.workspace_id, n.recipient_kind, n.recipient, n.address), c.channel)).problem
                     end as reason) why);
end
$$;
comment on function notify.parts_for(notify.notifications, timestamptz) is 'How a notification goes by each of its channels.';
