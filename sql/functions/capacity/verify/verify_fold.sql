-- The set-based part of capacity.verify_projection(): folds the events of a range of requests and compares. Raises if events cannot be
-- folded at all. It also compares what a request has outside its log: the customer's data with their hash, unless they were
-- erased, and the confirmation token.
create or replace function capacity.verify_fold(p_after text, p_to text, p_workspace_id text)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  select 'I1', 'projection_differs', r.id, d.differences
    from capacity.requests r
   cross join lateral (select capacity.fold(array_agg(e order by e.seq)) as request from capacity.events e
                        where e.request_id = r.id offset 0) f
   cross join lateral (
         select string_agg(format('%s is %s, the events say %s', a.key, left(coalesce(a.value #>> '{}', 'empty'), 60),
                                  left(coalesce(b.value #>> '{}', 'empty'), 60)),
                           '; ' order by a.key) as differences
           from jsonb_each(to_jsonb(r)) a join jsonb_each(to_jsonb(f.request)) b on b.key = a.key
          where a.value is distinct from b.value) d
   where r.id > p_after and r.id <= p_to and (p_workspace_id is null or r.workspace_id = p_workspace_id)
     -- Without any event there is nothing to compare; that is a separate finding.
     and (f.request).id is not null and f.request is distinct from r;

  return query
  select 'I1', v.code, r.id, v.detail
    from capacity.requests r
    left join lateral (select p as data, p.erased_at from capacity.personal_data p where p.request_id = r.id offset 0) d on true
    left join lateral (select x.request_id from capacity.erasures x where x.request_id = r.id offset 0) x on true
    left join lateral (select t.id from capacity.confirmation_tokens t
                        where t.id = r.confirmation_token_id and t.request_id = r.id offset 0) t on true
   cross join lateral (
         select 'customer_differs' as code, 'the stored customer data does not match its hash in the log' as detail
          where d.erased_at is null and capacity.personal_hash(d.data) is distinct from r.customer_hash
         union all
         select 'customer_differs', 'the customer data is gone, and no erasure is recorded'
          where d.erased_at is not null and x.request_id is null
         union all
         select 'token_missing', 'the confirmation token that the log names is missing'
          where r.confirmation_token_id is not null and t.id is null) v
   where r.id > p_after and r.id <= p_to and (p_workspace_id is null or r.workspace_id = p_workspace_id);
end
$$;
comment on function capacity.verify_fold(text, text, text) is 'Requests of a range that differ from the fold of their events.';
