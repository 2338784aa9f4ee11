-- Marks late reviews, and reminds those who are asked: one message to each person about everything that waits on them, and
-- no other until the workspace's interval has passed. So only one sweep at a time works on a workspace; another one skips it
-- and loses nothing. A review that somebody is deciding at this moment is left to the next reminder.
create or replace function capacity.timer_review(
  p_most integer, out late integer, out reminded integer, out failed jsonb, out more boolean
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_workspace directory.workspaces;
  v_row record;
  v_one record;
  v_due text[];
  v_items jsonb;
  v_seen integer := 0;
begin
  late := 0;
  reminded := 0;
  failed := '[]';
  for v_workspace in
    select w.* from directory.workspaces w
     where exists (select from capacity.requests r
                    where r.workspace_id = w.id and r.state = 'UNDER_REVIEW'
                      and r.state_since <= now() - w.review_sla_hours * interval '1 hour')
     order by w.id for no key update skip locked
  loop
    v_due := '{}';
    for v_row in
      select r as request, r.id, f.request_id is not null as failed_before
        from capacity.requests r
        left join capacity.review_looks l on l.request_id = r.id
        left join capacity.timer_failures f on f.request_id = r.id and f.timer = 'review'
       where r.workspace_id = v_workspace.id and r.state = 'UNDER_REVIEW'
         and r.state_since <= now() - v_workspace.review_sla_hours * interval '1 hour'
         and coalesce(l.next_look_at, '-infinity') <= now() and coalesce(f.retry_at, '-infinity') <= now()
       order by r.state_since limit p_most - v_seen
         for update of r skip locked
    loop
      v_seen := v_seen + 1;
      begin
        v_one := capacity.timer_review_one(v_row.request, v_workspace);
        if v_row.failed_before then
          delete from capacity.timer_failures f where f.request_id = v_row.id and f.timer = 'review';
        end if;
        late := late + v_one.late;
        v_due := v_due || v_one.due;
      exception when others then
        failed := failed || capacity.timer_failed(v_row.id, 'review', sqlstate, sqlerrm);
      end;
    end loop;
    continue when v_due = '{}';
    for v_row in select d.* from capacity.timer_digests(v_workspace, v_due) d order by d.member_id loop
      with free as materialized (
        select r.id from capacity.requests r where r.id in (select i ->> 'id' from jsonb_array_elements(v_row.items) i)
          for no key update skip locked)
      select coalesce(jsonb_agg(i order by n), '[]') into v_items
        from jsonb_array_elements(v_row.items) with ordinality x(i, n) where i ->> 'id' in (select f.id from free f);
      continue when v_items = '[]';
      v_one := capacity.timer_remind_person(v_workspace, v_row.member_id, v_items, v_row.others);
      reminded := reminded + v_one.reminded;
      failed := failed || v_one.failed;
    end loop;
  end loop;
  -- Records that are a day overdue belong to requests that are no longer under review.
  delete from capacity.review_looks l
   where l.request_id in (select x.request_id from capacity.review_looks x where x.next_look_at < now() - interval '1 day' limit 1000
                             for update skip locked);
  more := v_seen = p_most;
end
$$;
comment on function capacity.timer_review(integer) is 'Marks late reviews and reminds reviewers, a batch of requests at a time.';
