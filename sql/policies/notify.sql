-- Who sees which notifications: their recipients, in the workspace of their claims. Those who oversee everything see what others were told.
select directory.protect_tables('notify');

create policy members on notify.notifications for select to authenticated using (
  recipient_kind = 'member'
  and (workspace_id = (select directory.reader_workspace()) and recipient = (select directory.reader_id())
       or workspace_id = (select directory.reader_workspace('{admin,auditor}')))
);
