-- Who sees which notifications: whoever they are for, in the workspace of their claims. What others were told is for those who oversee all.
select directory.protect_tables('notify');

create policy members on notify.notifications for select to authenticated using (
  recipient_kind = 'member'
  and (workspace_id = (select directory.reader_workspace()) and recipient = (select directory.reader_id())
       or workspace_id = (select directory.reader_workspace('{admin,auditor}')))
);
