-- Says of a request whose customer was being asked that the mail was given up, or came back, once each time that one is: nobody would
-- learn of it but from a list or from its expiry. That there was no mail at all is said at once, by the event that asked for the answer.
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
     -- What came after this sweep began is left for the next, whose notice is the younger one.
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
comment on function capacity.timer_unasked(integer) is 'Tells of customers whose mail was given up, a batch of them.';
