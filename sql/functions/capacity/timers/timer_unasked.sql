-- Posts that the mail to a customer who was being asked was given up or bounced, once for each such mail: otherwise it would show only
-- in a list or at the request's expiry. The event that asks for the answer reports immediately when there was no mail at all.
create or replace function capacity.timer_unasked(p_most integer, out told integer, out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_row record;
  v_seen integer := 0;
  v_done record;
begin
  told := 0;
  failed := '[]';
  for v_row in
    select r as request, r.id, d.died_at, f.request_id is not null as failed_before
      from capacity.requests r
     cross join lateral (select capacity.mail_died_at(r.id) as died_at) d
      left join capacity.timer_failures f on f.request_id = r.id and f.timer = 'unasked'
     -- Failures after this sweep began are left for the next, whose notice is newer than they are.
     where r.state = 'CUSTOMER_CONFIRMATION_REQUIRED' and r.next_deadline_at > now() and d.died_at <= now()
       and not exists (select from capacity.notices n where n.request_id = r.id and n.kind = 'unasked' and n.created_at >= d.died_at)
       and capacity.unasked(r.id, r.state) = 'mail_failed' and coalesce(f.retry_at, '-infinity') <= now()
     order by r.next_deadline_at limit p_most
       for update of r skip locked
  loop
    v_seen := v_seen + 1;
    v_done := capacity.timer_notice(v_row.request, 'unasked', v_row.died_at, v_row.failed_before);
    told := told + v_done.said;
    failed := failed || v_done.failed;
  end loop;
  more := v_seen = p_most;
end
$$;
comment on function capacity.timer_unasked(integer) is 'Reports customers whose mail was given up, a batch of them.';
