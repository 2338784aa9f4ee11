-- Who sees which payments: those who see the request, and those who work on payments or oversee everything, in the workspace of their
-- claims. Nobody sees drafts: only the functions of the wizard read them.
select directory.protect_tables('billing');

create policy members on billing.payments for select to authenticated using (
  workspace_id = (select directory.reader_workspace())
  and (workspace_id = (select directory.reader_workspace('{admin,auditor,operator}'))
       or exists (select from capacity.requests r where r.id = payments.request_id))
);
create policy members on billing.refunds for select to authenticated using (
  exists (select from billing.payments p where p.id = refunds.payment_id)
);
create policy members on billing.disputes for select to authenticated using (
  exists (select from billing.payments p where p.id = disputes.payment_id)
);
create policy members on billing.subscriptions for select to authenticated using (
  exists (select from billing.payments p where p.id = subscriptions.payment_id)
);
-- The books are for those who oversee everything.
create policy members on billing.entries for select to authenticated using (
  workspace_id = (select directory.reader_workspace('{admin,auditor,operator}'))
);
