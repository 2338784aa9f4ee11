-- Tells the operators of a workspace which of its messages were given up since they were last told: how many, by which rail, of which
-- stream, and the last error of each. It leaves out messages that themselves reported problems, otherwise a mail server that is down would
-- cause mails without end, and rows without content because they were sent again. The caller holds the workspace.
create or replace function capacity.tell_dead_letters(p_workspace_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_causes constant text[] := '{dead_letters,circuit_open,circuit_closed}';
  v_facts jsonb;
begin
  delete from capacity.problems p
   where p.workspace_id = p_workspace_id and p.kind = 'dead_letters' and p.outbox_id is not null
     and not exists (select from notify.deliveries d
                       join notify.parts c on c.delivery_id = d.id
                       join notify.notifications n on n.id = c.notification_id
                      where d.outbox_id = p.outbox_id and coalesce(n.cause <> all (v_causes), true));
  if not exists (select from capacity.problems p where p.workspace_id = p_workspace_id and p.kind = 'dead_letters')
     or not capacity.claim_problem_message(p_workspace_id, 'dead_letters') then
    return;
  end if;
  with told as (
    delete from capacity.problems p where p.workspace_id = p_workspace_id and p.kind = 'dead_letters' returning p.*
  ), counted as (
    select t.stream, t.rail, sum(t.count) as count, (array_agg(t.code order by t.id desc))[1] as code, min(t.id) as id
      from told t group by 1, 2
  )
  select jsonb_build_object(
           'id', min(c.id), 'count', sum(c.count),
           'rails', (select jsonb_agg(jsonb_build_object('rail', r.rail, 'count', r.count) order by r.count desc, r.rail)
                       from (select o.rail, sum(o.count) as count from counted o group by 1) r),
           'streams', jsonb_agg(jsonb_build_object('stream', c.stream, 'rail', c.rail, 'count', c.count, 'code', c.code)
                                order by c.count desc, c.stream, c.rail))
    into v_facts from counted c;
  perform capacity.tell_operators(p_workspace_id, 'dead_letters', v_facts);
end
$$;
comment on function capacity.tell_dead_letters(text) is 'Tells operators which messages were given up.';
