-- Allows mails of these kinds to the recipient of a notification again, if they were stopped. A digest that was chosen meanwhile stays.
create or replace function notify.resume_mails(p_notification notify.notifications, p_categories text[]) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
begin
  delete from notify.preferences f
   where f.workspace_id = p_notification.workspace_id and f.whose = notify.whose(p_notification) and f.category = any (p_categories)
     and f.channel = 'email' and f.choice = 'off';
end
$$;
comment on function notify.resume_mails(notify.notifications, text[]) is 'Allows mails of some kinds to a recipient again.';
