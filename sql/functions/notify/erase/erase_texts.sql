-- Erases what notifications say, with a customer's name and address, and the link; held parts are dropped for the given reason
-- (notify.status_rules). The fact that a person was told something, its kind and its time stay. Rows are always taken in the order of their
-- ids, because a customer's erasure and the removal of a member may run at the same time.
create or replace function notify.erase_texts(p_ids uuid[], p_reason text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform from notify.notifications n where n.id = any (p_ids) order by n.id for no key update;
  perform from notify.parts p where p.notification_id = any (p_ids) and p.state = 'held'
    order by p.notification_id, p.channel, p.endpoint_id for no key update;
  update notify.notifications n
     set title = null, body = null, address = null, name = null, link = null, action_url = null, erased_at = clock_timestamp()
   where n.id = any (p_ids) and n.erased_at is null;
  update notify.parts p set state = 'dropped', reason = p_reason where p.notification_id = any (p_ids) and p.state = 'held';
end
$$;
comment on function notify.erase_texts(uuid[], text) is 'Erases what notifications say.';
