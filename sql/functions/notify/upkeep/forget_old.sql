-- Deletes a batch of notifications that are older than their category is kept, with their parts and the messages that carry nothing else. A
-- message whose parts went another way carries nothing from then on: it is deleted when nothing is kept that long. A key that was forgotten
-- is treated as new. Concurrent callers take different rows. It also continues pending erasures. Returns how many it handled, so that a
-- caller knows whether to continue.
create or replace function notify.forget_old(p_most integer default 1000) returns integer
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_category record;
  v_done integer := notify.forget_removed(100) + notify.erase_messages(p_most);
  v_count integer;
  v_carried uuid[];
begin
  for v_category in select c.category, c.retention_days from notify.categories c loop
    exit when v_done >= p_most;
    with gone as (
      delete from notify.notifications n
       where n.id in (select o.id from notify.notifications o
                       where o.category = v_category.category
                         and o.created_at < clock_timestamp() - make_interval(days => v_category.retention_days)
                         and not exists (select from notify.parts p where p.notification_id = o.id and p.state = 'held')
                       order by o.created_at limit p_most - v_done for update skip locked)
      returning n.id
    ), parts as (
      delete from notify.parts p using gone g where p.notification_id = g.id returning p.delivery_id
    )
    select (select count(*) from gone), array(select distinct p.delivery_id from parts p where p.delivery_id is not null)
      into v_count, v_carried;
    v_done := v_done + v_count;
    -- By their ids: otherwise those that still carry something would be read again each time.
    with messages as (
      delete from notify.deliveries d
       where d.id = any (v_carried) and not d.to_erase and not exists (select from notify.parts p where p.delivery_id = d.id)
      returning d.outbox_id
    ), ends as (
      delete from notify.settled s using messages m where s.outbox_id = m.outbox_id
    )
    select count(*) into v_count from messages;
    v_done := v_done + v_count;
  end loop;
  if v_done < p_most then
    with messages as (
      delete from notify.deliveries d
       where d.id in (select o.id from notify.deliveries o
                       where o.released_at < clock_timestamp()
                                           - make_interval(days => (select max(c.retention_days) from notify.categories c))
                         and not o.to_erase and not exists (select from notify.parts p where p.delivery_id = o.id)
                       order by o.released_at limit p_most - v_done for update skip locked)
      returning d.outbox_id
    ), ends as (
      delete from notify.settled s using messages m where s.outbox_id = m.outbox_id
    )
    select count(*) into v_count from messages;
    v_done := v_done + v_count;
  end if;
  return v_done;
end
$$;
comment on function notify.forget_old(integer) is 'Deletes a batch of what is older than it is kept; how many it handled.';
