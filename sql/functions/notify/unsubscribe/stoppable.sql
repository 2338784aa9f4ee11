-- What a link stops: the categories in the mail that it came with, by their names for people, and whether all of them are stopped
-- already. Usually that is one; a digest may have several.
create or replace function notify.stoppable(
  p_notification notify.notifications, out categories text[], out titles text[], out stopped boolean
)
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  select array_agg(c.category order by c.title), array_agg(c.title order by c.title),
         bool_and(coalesce(f.choice, 'on') = 'off')
    into categories, titles, stopped
    from notify.categories c
    left join notify.preferences f on f.workspace_id = p_notification.workspace_id and f.whose = notify.whose(p_notification)
                                  and f.category = c.category and f.channel = 'email'
   where not c.critical
     and (c.category = p_notification.category
          or c.category in (select n.category from notify.parts own
                              join notify.parts p on p.delivery_id = own.delivery_id
                              join notify.notifications n on n.id = p.notification_id
                             where own.notification_id = p_notification.id and own.channel = 'email'));
end
$$;
comment on function notify.stoppable(notify.notifications) is 'What a link that came with a mail stops.';
