-- Warns once before an offer expires: the customer by mail, the commercial owner in the thread. Never before half of the time has
-- passed: otherwise an offer that is shorter than the warning period would be followed by its warning immediately. The notices record
-- the warning; they are checked again once the request is locked, because another sweep may have warned in between.
create or replace function capacity.timer_warn(p_most integer, out warned integer, out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_seen integer := 0;
  v_done record;
begin
  warned := 0;
  failed := '[]';
  for v_row in
    select r as request, r.id, f.request_id is not null as failed_before
      from capacity.requests r
      join directory.workspaces w on w.id = r.workspace_id
      left join capacity.timer_failures f on f.request_id = r.id and f.timer = 'warning'
     where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and r.next_deadline_at > now()
       -- The first bound implies the second, which an index can use.
       and r.next_deadline_at <= now() + least(w.warn_before_hours, r.confirmation_ttl_days * 12) * interval '1 hour'
       and r.next_deadline_at <= now() + (select max(x.warn_before_hours) from directory.workspaces x) * interval '1 hour'
       and not exists (select from capacity.notices n where n.request_id = r.id and n.kind = 'warning')
       and coalesce(f.retry_at, '-infinity') <= now()
     order by r.next_deadline_at limit p_most
       for update of r skip locked
  loop
    v_seen := v_seen + 1;
    v_done := capacity.timer_notice(v_row.request, 'warning', '-infinity', v_row.failed_before);
    warned := warned + v_done.said;
    failed := failed || v_done.failed;
  end loop;
  more := v_seen = p_most;
end
$$;
comment on function capacity.timer_warn(integer) is 'Warns once before each deadline, a batch of them.';
