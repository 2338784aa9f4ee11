-- Whom to remind of what: for each person every late review that waits on them, oldest first, unless they were reminded of it too
-- often; and how many more wait on them that are not named. One reminder covers everything that waits on a person, whichever request
-- fell due. A group's reminder in its channel is a separate digest, whose items name the group. A request on which a
-- timer failed is skipped for a while. Limited to what a message names (capacity.story_digest): each named review, and no
-- other, is counted by its own notice.
create or replace function capacity.timer_digests(p_workspace directory.workspaces, p_member_ids text[])
returns table (member_id text, items jsonb, others integer)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select n.member_id,
         jsonb_agg(jsonb_build_object(
           'member_id', n.member_id, 'id', n.request_id, 'step', n.step, 'since', extract(epoch from n.since),
           'channel', n.slack_channel_id, 'group', n.group_id, 'what', n.what)
             order by n.since, n.request_id, n.step) filter (where n.place <= 50),
         (max(n.waiting) - count(*) filter (where n.place <= 50))::integer
    from (select d.*, row_number() over (partition by d.member_id, d.group_id is not null order by d.since, d.request_id, d.step) as place
            from (select m.id as member_id, w.request_id, w.step, w.since, r.slack_channel_id, g.id as group_id,
                         r.quantity || ' × ' || r.requested_size || ' in ' || r.region as what,
                         count(*) over (partition by m.id, g.id is not null) as waiting,
                         w.since <= now() - p_workspace.review_sla_hours * interval '1 hour'
                         and (select count(*) from capacity.notices x
                               where x.request_id = w.request_id and x.kind = 'reminder' and x.step = w.step
                                 and x.member_id = m.id) < p_workspace.most_reminders as due
                    from capacity.waits w
                    join capacity.requests r on r.id = w.request_id
                    left join directory.groups g on w.step = 'technical' and g.workspace_id = r.workspace_id and g.id = r.infra_owner_group
                      and g.slack_channel_id is not null
                   cross join lateral unnest(w.asked) m(id)
                   where w.workspace_id = p_workspace.id and w.asked && p_member_ids and m.id = any (p_member_ids)
                     and not exists (select from capacity.timer_failures f where f.request_id = w.request_id and f.retry_at > now())) d
           where d.due) n
   group by n.member_id, n.group_id is not null
   order by n.member_id, n.group_id is not null;
end
$$;
comment on function capacity.timer_digests(directory.workspaces, text[])
  is 'The late reviews of people who are to be reminded, and how many more wait on each.';
