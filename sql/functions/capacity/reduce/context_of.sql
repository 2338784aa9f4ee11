-- Everything known about a request when something happens to it: the actor and their standing, whether it happened before, whom messages
-- name, how the customer is reached, what deliveries captured, who was told what, and the destinations. One statement, and one more on the
-- log where that is needed. A caller that decides something holds the request's lock (capacity.load_context).
--
-- p_cause: the event, or the kind of the notice, for the messages to people.
--
-- `told`: those who were told that a review waits for them, and not yet that it no longer does, as `step:member`. The messages
-- are the record: the directory may have changed since, but members who left are told nothing. The same for the group's channel, where a
-- reminder alone does not count: the thread, which may be in that channel, says the rest. All notifications of the request are read first,
-- by that key alone: a plan made while there was little to read is kept, and one by category, or per member, would read more with
-- every request that there ever was. For the same reason everything is found by its key, row by row.
create or replace function capacity.context_of(
  p_request capacity.requests,
  p_actor capacity.actor,
  p_event_type public.capacity_request_event_type,
  p_cause text
) returns capacity.context
language plpgsql stable set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
  set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  v_account text := capacity.account_of(p_actor);
  v_context capacity.context;
begin
  v_context.now := clock_timestamp();
  with told as materialized (
    select n.channels, n.recipient_kind, n.recipient, n.category, n.cause, n.created_at,
           split_part(n.idempotency_key, '/', 2) as said, split_part(n.idempotency_key, ':', 2) as step
      from notify.notifications n where n.about = p_request.id)
  select p_request, p_event_type, p_cause, p_actor,
         (select row(s.*)::directory.standing from directory.standings s
           where p_actor.type = 'user' and s.workspace_id = p_request.workspace_id and s.member_id = p_actor.id),
         v_context.now,
         null, null, null,
         w.linear_team_id, w.public_url, p_request.slack_channel_id is not null or w.slack_channel_id is not null, false, false,
         q.display_name, q.slack_user_id, coalesce(q.active, false),
         (select coalesce(c.customer_id, encode(c.customer_key, 'hex'))
            from capacity.request_customers c where c.request_id = p_request.id),
         case when x.request_id is null then coalesce(
           (select (select f.content from capacity.free_texts f where f.request_id = n.request_id and f.hash = n.body_hash)
              from capacity.notices n where n.request_id = p_request.id and n.kind = 'address' order by n.id desc limit 1),
           d.customer_ref -> 'email') end,
         x.request_id is not null,
         k.thread, k.issue,
         (select max(l.delivered_at) from outbox.lane_positions l
           where l.stream = 'capacity' and l.key in (p_request.id || ':slack', p_request.id || ':linear', p_request.id || ':email')),
         exists (select from told l where l.channels <> '{in-app}'),
         array(select l.step || ':' || l.recipient
                 from told l
                where p_request.state = 'UNDER_REVIEW' and l.recipient_kind = 'member' and l.category = 'reviews'
                  and l.said in ('asked:' || l.step, 'no_longer_asked:' || l.step)
                  and (select r.active from directory.members r where r.workspace_id = p_request.workspace_id and r.id = l.recipient)
                group by l.recipient, l.step
               having (array_agg(l.said order by l.created_at desc))[1] = 'asked:' || l.step
                order by l.recipient, l.step),
         (select l.recipient from told l where l.recipient_kind = 'group' and l.cause in ('REQUEST_SUBMITTED', 'nudge')
           order by l.created_at limit 1),
         array(select r.name from capacity.routes r
                where r.workspace_id = p_request.workspace_id and r.event_type = p_event_type
               union all
               select r.name from capacity.routes r where r.workspace_id = '' and r.event_type = p_event_type
                order by 1),
         array(select row(l.audience, l.category, l.critical, l.channels, l.priority, l.template,
                          o.title, o.body, h.title, h.body)::capacity.tell
                 from capacity.tells l
                 join notify.own_templates o on o.name = l.template and o.language = 'en'
                 left join notify.templates h on h.workspace_id = p_request.workspace_id and h.name = o.name and h.language = o.language
                where l.cause = p_cause order by l.place),
         (select count(*) from (select from capacity.acts a
                                 where a.workspace_id = p_request.workspace_id and a.account = v_account
                                   and a.at > v_context.now - interval '1 hour'
                                 limit greatest(w.acts_per_hour, 160)) a),
         w.acts_per_hour, null, d
    into v_context
    from directory.workspaces w
    left join directory.members q on q.workspace_id = w.id and q.id = p_request.requester_user_id
    left join capacity.personal_data d on d.request_id = p_request.id
    left join capacity.erasures x on x.request_id = p_request.id
   cross join lateral (
         select max(n.value) filter (where n.name = 'slack_thread_ts') as thread,
                max(n.value) filter (where n.name = 'linear_issue_id') as issue
           from capacity.request_captures n where n.request_id = p_request.id) k
   where w.id = p_request.workspace_id;

  -- The questions to the log: whether this happened before, and facts that only some requests have.
  if p_event_type not in ('COMMERCIAL_APPROVED', 'TECH_REVIEW_APPROVED') or p_request.commercial_endorsed_at is not null
     or v_context.linear_team_id is not null or p_request.review_plan ? 'quiet' then
    select (array_agg(e.actor_id order by e.seq) filter (where e.event_type = p_event_type))[1],
           min(e.created_at) filter (where e.event_type = p_event_type),
           min(e.created_at) filter (where e.event_type = 'COMMERCIAL_APPROVED' and e.actor_id = p_actor.id
                                       and e.payload -> 'counts' = 'false'),
           v_context.linear_team_id is not null and bool_or('linear:issue' = any (e.effects)) is true,
           p_request.review_plan -> 'quiet' = 'true' and bool_or(e.event_type = 'CUSTOMER_CONFIRMED') is not true
      into v_context.decided_by, v_context.decided_at, v_context.endorsed_at, v_context.has_issue, v_context.quiet
      from capacity.events e where e.request_id = p_request.id;
    v_context.quiet := coalesce(v_context.quiet, false);
  end if;
  return v_context;
end
$$;
comment on function capacity.context_of(capacity.requests, capacity.actor, public.capacity_request_event_type, text)
  is 'What is known of a request when something happens to it. Nullable: p_actor, p_event_type, p_cause.';
