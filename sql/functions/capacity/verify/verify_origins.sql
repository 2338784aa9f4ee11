-- I3 from the outbox's side, for a range of outbox ids: no row of the stream `capacity` without the event or notice that named it, and
-- none without an idempotency key.
create or replace function capacity.verify_origins(p_after uuid, p_to uuid)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  -- The instruction is <request>#<number of the event> or <request>!<id of the notice>.
  with delivery as materialized (
    select m.outbox_id, m.instruction_id, m.idempotency_key, m.known,
           split_part(m.instruction_id, case when m.instruction_id like '%#%' then '#' else '!' end, 1) as request_id,
           case when m.instruction_id ~ '^[^#!]+#[0-9]{1,9}$' then split_part(m.instruction_id, '#', 2)::integer end as seq,
           case when m.instruction_id ~ '^[^#!]+![0-9]{1,18}$' then split_part(m.instruction_id, '!', 2)::bigint end as notice_id
      from outbox.rows_between('capacity', p_after, p_to) m
  )
  select 'I3', v.code, d.outbox_id::text, format('%s, %s: %s', d.instruction_id, d.idempotency_key, v.detail)
    from delivery d
    left join lateral (select e.effects from capacity.events e where e.request_id = d.request_id and e.seq = d.seq offset 0) e on true
    left join lateral (select n.effects from capacity.notices n
                        where n.id = d.notice_id and n.request_id = d.request_id offset 0) n on true
   cross join lateral (
         select 'outbox_row_extra' as code, 'no event names this side effect' as detail
          where not coalesce(d.idempotency_key = any (coalesce(e.effects, n.effects)), false)
         union all
         select 'outbox_row_extra', 'another row has its idempotency key, or no row has it'
          where not d.known) v;
end
$$;
comment on function capacity.verify_origins(uuid, uuid) is 'Outbox rows of the workflow that no event or notice named.';
