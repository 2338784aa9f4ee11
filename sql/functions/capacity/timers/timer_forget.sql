-- Forgets expired data that belongs to no request: forms and notes to one person in Slack, Slack users of members who were
-- removed, and the counts of acts more than an hour ago (capacity.acts). A failure is recorded under the stream's name,
-- and the next sweep tries again.
create or replace function capacity.timer_forget(out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_expired record := outbox.forget_expired();
begin
  delete from capacity.acts a
   where a.ctid = any (array(select o.ctid from capacity.acts o where o.at < clock_timestamp() - interval '1 hour' limit 100000
                                for update skip locked));
  failed := '[]';
  more := capacity.forget_slack_users() or v_expired.more;
  if v_expired.failed_code is null then
    delete from capacity.timer_failures f where f.request_id = 'interactions' and f.timer = 'forget';
  else
    failed := failed || capacity.timer_failed('interactions', 'forget', v_expired.failed_code, v_expired.failed_message);
  end if;
end
$$;
comment on function capacity.timer_forget() is 'Forgets interactions and receipts that have expired.';
