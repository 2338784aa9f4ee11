-- I3 from the side of notifications, for a range of request ids: the workflow sent no notification about a request that no
-- event or notice of it names. notify itself sends those about bounced mail.
create or replace function capacity.verify_told(p_after text, p_to text, p_workspace_id text)
returns table (invariant text, code text, subject text, detail text)
language plpgsql stable set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_custom_plan set enable_seqscan = off
as $$
#variable_conflict use_column
begin
  return query
  with told as materialized (
    select n.id, n.about, split_part(n.idempotency_key, '/', 1) as instruction_id,
           'tell:' || split_part(split_part(n.idempotency_key, '/', 2), ':', 1) as effect
      from notify.notifications n
     where n.about > p_after and n.about <= p_to and n.cause in (select c.cause from capacity.tells c)
       and (p_workspace_id is null or n.workspace_id = p_workspace_id)
  )
  select 'I3', 'notification_extra', t.id::text, format('%s, %s: no event or notice names this', t.instruction_id, t.effect)
    from told t
    left join lateral (select e.effects from capacity.events e
                        where e.request_id = t.about and t.instruction_id = e.request_id || '#' || e.seq offset 0) e on true
    left join lateral (select n.effects from capacity.notices n
                        where n.request_id = t.about and t.instruction_id = n.request_id || '!' || n.id offset 0) n on true
   where not coalesce(t.effect = any (coalesce(e.effects, n.effects)), false);
end
$$;
comment on function capacity.verify_told(text, text, text) is 'Notifications about a range of requests that no event or notice named.';
