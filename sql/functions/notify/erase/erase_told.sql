-- Erases what a member who left was told, and the messages that carry it, as far as that is possible now.
create or replace function notify.erase_told(p_ids uuid[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  perform notify.erase_texts(p_ids, 'nobody');
  update notify.deliveries d set to_erase = true
   where d.id = any (array(
     select o.id from notify.deliveries o
      where o.id in (select p.delivery_id from notify.parts p where p.notification_id = any (p_ids) and p.delivery_id is not null)
      order by o.id for no key update));
  perform notify.erase_messages(1000);
end
$$;
comment on function notify.erase_told(uuid[]) is 'Erases what a member who left was told.';
