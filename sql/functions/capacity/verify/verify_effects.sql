-- I3, for a range of request ids: every side effect that an event or a notice names has exactly one outbox row, or, where it names
-- people, their notifications. The opposite directions are checked elsewhere: no row without its event by capacity.verify_deliveries(),
-- no notification without its event or notice by capacity.verify_told().
create or replace function capacity.verify_effects(p_after text, p_to text, p_workspace_id text, out effects bigint, out findings jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
declare
  v_stream_id smallint := outbox.stream_id('capacity');
  v_kept_since timestamptz := now() - (select min(c.retention_days) from notify.categories c
                                        where c.category in (select t.category from capacity.tells t)) * interval '1 day';
begin
  with wanted as (
    select e.request_id, e.created_at, e.request_id || '#' || e.seq as instruction_id, n.name
      from capacity.events e cross join lateral unnest(e.effects) n(name)
     where e.request_id > p_after and e.request_id <= p_to and e.effects <> '{}'
       and (p_workspace_id is null or exists (select from capacity.requests r
                                               where r.id = e.request_id and r.workspace_id = p_workspace_id))
    union all
    select t.request_id, t.created_at, t.request_id || '!' || t.id, n.name
      from capacity.notices t cross join lateral unnest(t.effects) n(name)
     where t.request_id > p_after and t.request_id <= p_to and t.effects <> '{}'
       and (p_workspace_id is null or exists (select from capacity.requests r
                                               where r.id = t.request_id and r.workspace_id = p_workspace_id))
  ), counted as (
    select w.request_id, w.created_at, w.instruction_id, w.name, count(*) as times from wanted w group by 1, 2, 3, 4
  ), judged as (
    select c.instruction_id, c.name,
           case
             when c.times > 1 then 'effect_named_twice'
             when starts_with(c.name, 'tell:') then case when not t.told then 'notification_missing' end
             when d.outbox_id is null then 'outbox_row_missing'
             when not d.kept_as_named then 'outbox_row_lost'
           end as code
      from counted c
      left join lateral (select d.outbox_id, d.kept_as_named from outbox.rows d
                          where d.stream_id = v_stream_id and d.instruction_id = c.instruction_id
                            and d.idempotency_key = c.name offset 0) d on true
      -- Notifications are kept for as long as their category says.
      left join lateral (select c.created_at < v_kept_since or exists (
                                  select from notify.notifications n
                                   where n.about = c.request_id
                                     and split_part(n.idempotency_key, ':', 1) = c.instruction_id || '/' || substr(c.name, 6)) as told
                         offset 0) t on true
  )
  select count(*),
         coalesce(jsonb_agg(jsonb_build_object(
           'invariant', 'I3', 'code', j.code, 'subject', j.instruction_id,
           'detail', case j.code
                       when 'effect_named_twice' then format('the side effect %s is named more than once', j.name)
                       when 'notification_missing' then format('the side effect %s told nobody', j.name)
                       when 'outbox_row_missing' then format('the side effect %s has no outbox row', j.name)
                       else format('the outbox row of the side effect %s is gone, or is another one''s', j.name)
                     end) order by j.instruction_id, j.name) filter (where j.code is not null), '[]')
    into effects, findings
    from judged j;
end
$$;
comment on function capacity.verify_effects(text, text, text)
  is 'Side effects of a range of requests: how many there are, and which lack their outbox row.';
