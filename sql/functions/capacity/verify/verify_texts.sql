-- I1, for a range of request ids: people's texts exist and match their hashes in the log, unless an erasure is
-- recorded. A malformed hash matches nothing instead of stopping the verification.
create or replace function capacity.verify_texts(p_after text, p_to text, p_workspace_id text)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  with said as (
    select e.request_id, format('%s#%s', e.request_id, e.seq) as subject,
           case when h.hex ~ '^[0-9a-f]{64}$' then decode(h.hex, 'hex') end as hash
      from capacity.events e
     cross join lateral (values (e.payload ->> 'reason_hash'), (e.payload ->> 'error_hash')) h(hex)
     where e.request_id > p_after and e.request_id <= p_to and e.payload ?| '{reason_hash,error_hash}' and h.hex is not null
    union all
    select n.request_id, format('%s!%s', n.request_id, n.id), n.body_hash
      from capacity.notices n where n.request_id > p_after and n.request_id <= p_to and n.body_hash is not null
  )
  select 'I1', v.code, s.subject, v.detail
    from said s
    left join lateral (select t.* from capacity.free_texts t where t.request_id = s.request_id and t.hash = s.hash offset 0) t on true
    left join lateral (select x.request_id from capacity.erasures x where x.request_id = s.request_id offset 0) x on true
   cross join lateral (
         select 'text_missing' as code, 'the text of a hash in the log is missing' as detail where t.hash is null
         union all
         select 'text_missing', 'the text is gone, and no erasure is recorded'
          where t.hash is not null and t.content is null and x.request_id is null
         union all
         select 'text_differs', 'the text does not match its hash in the log'
          where sha256(uuid_send(t.salt) || convert_to(t.content::text, 'UTF8')) <> t.hash) v
   where p_workspace_id is null or exists (select from capacity.requests r where r.id = s.request_id and r.workspace_id = p_workspace_id);
end
$$;
comment on function capacity.verify_texts(text, text, text)
  is 'Free texts of a range of requests that do not match their hashes in the log.';
