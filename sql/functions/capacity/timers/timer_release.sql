-- Sends notifications that are due, where no relay runs all the time. A failure is recorded, and the next sweep tries again.
create or replace function capacity.timer_release(p_most integer, out failed jsonb, out more boolean)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  failed := '[]';
  more := (notify.release(p_most)).more;
  delete from capacity.timer_failures f where f.request_id = 'notifications' and f.timer = 'release';
exception when others then
  failed := failed || capacity.timer_failed('notifications', 'release', sqlstate, sqlerrm);
  more := false;
end
$$;
comment on function capacity.timer_release(integer) is 'Sends notifications that are due, a batch of them.';
