-- I2, for a range of request ids: events are numbered 1..version, each hash covers the one before and the event itself, and each
-- event begins where the last one ended, by a transition in the table. Strays (events without a request) are reported here too.
--
-- One pass over the range in the order of the log's primary key. Of several faults of one event the first is reported: a gap also breaks
-- the hash after it.
create or replace function capacity.verify_chain(p_after text, p_to text, p_workspace_id text)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  with log as (
    select e as event, e.request_id, e.seq, e.event_type, e.state_before, e.state_after, e.created_at, e.hash,
           coalesce(lag(e.seq) over w, 0) as last_seq, lag(e.hash) over w as last_hash, lag(e.created_at) over w as last_at,
           coalesce(lag(e.state_after) over w, 'SUBMITTED') as last_state,
           coalesce(bool_or(e.event_type = 'COMMERCIAL_APPROVED' and e.payload -> 'counts' is distinct from 'false') over w, false)
             and coalesce(bool_or(e.event_type = 'TECH_REVIEW_APPROVED') over w, false) as both_approved
      from capacity.events e
     where e.request_id > p_after and e.request_id <= p_to
    window w as (partition by e.request_id order by e.seq)
  ), judged as (
    select l.*,
           case
             when l.seq <> l.last_seq + 1 then 'event_missing'
             when l.hash is distinct from capacity.event_hash(l.last_hash, l.event) then 'hash_differs'
             when l.state_before <> l.last_state then 'state_jumps'
             when t.state_before is null then 'transition_unlawful'
             when l.created_at < l.last_at then 'time_runs_back'
           end as code
      from log l
      left join capacity.transitions() t
        on t.state_before = l.state_before and t.event_type = l.event_type and t.state_after = l.state_after
       and (t.when_both_approved is null or t.when_both_approved = l.both_approved)
  )
  select 'I2', j.code, format('%s#%s', j.request_id, j.seq),
         case j.code
           when 'event_missing' then format('event %s follows %s', j.seq, case j.last_seq when 0 then 'nothing' else j.last_seq::text end)
           when 'hash_differs' then format('%s or the event before it was changed, or its hash was', j.event_type)
           when 'state_jumps' then format('%s begins in %s, but the event before it ended in %s', j.event_type, j.state_before,
                                          j.last_state)
           when 'transition_unlawful' then format('%s does not lead from %s to %s', j.event_type, j.state_before, j.state_after)
           else format('%s is older than the event before it', j.event_type)
         end
    from judged j
   where j.code is not null
     and (p_workspace_id is null or exists (select from capacity.requests r
                                             where r.id = j.request_id and r.workspace_id = p_workspace_id));

  return query
  select 'I2', v.code, coalesce(r.id, h.request_id), v.detail
    from (select e.request_id, count(*) as events, max(e.seq) as last_seq, (array_agg(e.hash order by e.seq desc))[1] as last_hash,
                 array_agg(distinct e.workspace_id) as workspaces
            from capacity.events e
           where e.request_id > p_after and e.request_id <= p_to
           group by e.request_id) h
    full join (select r.id, r.version, r.head_hash, r.workspace_id from capacity.requests r
                where r.id > p_after and r.id <= p_to and (p_workspace_id is null
                                                           or r.workspace_id = p_workspace_id)) r on r.id = h.request_id
   cross join lateral (
         select 'request_missing' as code, format('there are %s events, and no request', h.events) as detail where r.id is null
         union all
         select 'events_missing', format('version is %s, and there are %s events, the last of them number %s', r.version,
                                         coalesce(h.events, 0), coalesce(h.last_seq, 0))
          where r.id is not null and (h.last_seq is distinct from r.version or h.events is distinct from r.version)
         union all
         select 'head_differs', 'the head of the request is not the hash of its last event'
          where r.id is not null and h.last_hash is distinct from r.head_hash
         union all
         select 'workspace_differs', 'the events belong to another workspace than their request'
          where r.id is not null and h.workspaces <> array[r.workspace_id]) v
   where r.id is not null or p_workspace_id is null;
end
$$;
comment on function capacity.verify_chain(text, text, text)
  is 'Broken numbering, hashes and transitions in the log of a range of requests.';
