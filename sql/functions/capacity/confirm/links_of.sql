-- The mails that carried, or are to carry, the customer's link: at first, when it was sent again, and before the time is up. A mail is
-- lost when it was given up or skipped. One that was named and has no row yet is being enqueued at this moment.
create or replace function capacity.links_of(p_request_id text)
returns table (effect text, asked_at timestamptz, notice_id bigint, outbox_id uuid, lost boolean)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select w.effect, w.asked_at, w.notice_id, d.outbox_id,
         d.outbox_id is not null and outbox.is_lost(d.outbox_id)
    from (select 'email:confirmation' as effect, e.created_at as asked_at, null::bigint as notice_id,
          e.request_id || '#' || e.seq as instruction_id
            from capacity.events e where e.request_id = p_request_id and 'email:confirmation' = any (e.effects)
          union all
          select f.effect, n.created_at, n.id, n.request_id || '!' || n.id
            from capacity.notices n cross join lateral unnest(n.effects) f(effect)
           where n.request_id = p_request_id and f.effect in ('email:confirmation', 'email:warning')) w
    left join outbox.rows d on d.stream_id = (select outbox.stream_id('capacity')) and d.instruction_id = w.instruction_id
      and d.idempotency_key = w.effect;
end
$$;
comment on function capacity.links_of(text)
  is 'The mails with the customer''s link, and whether each was lost. Nullable: notice_id, outbox_id.';
