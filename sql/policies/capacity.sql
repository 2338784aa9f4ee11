-- Who sees which rows. Every table of the workflow is closed; these policies open them only for reading. Definer functions write: they run
-- as the owner and make their own checks.
--
-- Members see what capacity.may_read() allows. Each condition compares an indexed column with the result of a function that runs once per
-- query: a function per row would make every list as slow as reading the whole table. The checks of rows that a member may not see are the
-- price of a list, so each column is checked only once: nobody stands in for the person who asked for the capacity, and that person
-- is let in as the requester.
select directory.protect_tables('capacity');

create policy members on capacity.requests for select to authenticated using (
  workspace_id = (select directory.reader_workspace())
  and (workspace_id = (select directory.reader_workspace('{admin,auditor}'))
       or requester_user_id = (select directory.reader_id())
       or commercial_owner_user_id = any ((select directory.reader_owners())::text[]) and commercial_owner_user_id <> requester_user_id
       or infra_owner_group = any ((select directory.reader_groups())::text[])
       or workspace_id = (select directory.reader_workspace('{operator}')) and state in ('PROVISIONING', 'COMPLETED', 'FAILED')
       or review_plan #>> '{commercial,authority,kind}' <> 'owner'
          and (review_plan #>> '{commercial,authority,kind}' = 'role'
               and review_plan #>> '{commercial,authority,role}' = any ((select directory.reader_roles())::text[])
               or review_plan #>> '{commercial,authority,kind}' = 'member'
               and review_plan #>> '{commercial,authority,member}' = any ((select directory.reader_named())::text[])
               and review_plan #>> '{commercial,authority,member}' <> requester_user_id))
);

-- Everything that belongs to a request is seen by those who see the request: the policy above applies inside these too. Events are filtered
-- by workspace first, by index, so that those of other workspaces are not even read.
create policy members on capacity.events for select to authenticated using (
  workspace_id = (select directory.reader_workspace()) and exists (select from capacity.requests r where r.id = events.request_id)
);
create policy members on capacity.personal_data for select to authenticated using (
  exists (select from capacity.requests r where r.id = personal_data.request_id)
);
create policy members on capacity.request_captures for select to authenticated using (
  exists (select from capacity.requests r where r.id = request_captures.request_id)
);
create policy members on capacity.request_customers for select to authenticated using (
  exists (select from capacity.requests r where r.id = request_customers.request_id)
);
create policy members on capacity.free_texts for select to authenticated using (
  exists (select from capacity.requests r where r.id = free_texts.request_id)
);
