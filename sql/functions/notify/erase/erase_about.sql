-- Erases what people were told about something up to a moment. Returns the messages that carried it, whose payloads the caller erases:
-- those to a customer, and separately those to members or groups, which may be about other things as well. p_but: causes that name nobody,
-- and are kept.
create or replace function notify.erase_about(
  p_about text, p_to timestamptz, p_but text[], out to_customer uuid[], out to_members uuid[], out delivery_ids text[]
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_ids uuid[] := array(select n.id from notify.notifications n
                         where n.about = p_about and n.created_at <= p_to and coalesce(n.cause <> all (p_but), true) order by n.id
                           for update);
begin
  perform notify.erase_texts(v_ids, 'erased');
  select coalesce(array_agg(d.outbox_id order by d.outbox_id) filter (where d.recipient_kind = 'customer'), '{}'),
         coalesce(array_agg(d.outbox_id order by d.outbox_id) filter (where d.recipient_kind <> 'customer'), '{}'),
         coalesce(array_agg(d.id::text), '{}')
    into to_customer, to_members, delivery_ids
    from notify.deliveries d
   where d.id in (select p.delivery_id from notify.parts p where p.notification_id = any (v_ids) and p.delivery_id is not null
                  union all
                  -- Messages that no part points to any more, because it was sent again or another way, may have said the same.
                  select o.id
                    from (select distinct n.workspace_id, n.recipient_kind, n.recipient from notify.notifications n
                           where n.id = any (v_ids)) w
                    join notify.deliveries o
                      on o.workspace_id = w.workspace_id and o.recipient_kind = w.recipient_kind and o.recipient = w.recipient
                   where o.released_at <= p_to and not exists (select from notify.parts p where p.delivery_id = o.id));
end
$$;
comment on function notify.erase_about(text, timestamptz, text[]) is 'Erases what people were told about something.';
