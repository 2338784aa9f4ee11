-- The request that a receipt of Slack names, if its workspace has one by that id: the button's, the form's, or the one in a command. It
-- says nothing about what the sender may do; it is for the table of receipts, so that what is kept of a refusal is found when the
-- request's customer is erased. Other workspaces' requests are not meant: what was said here would be counted among theirs.
create or replace function inbound.named_request(p_receipt jsonb) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_home text := inbound.slack_home(p_receipt ->> 'team', p_receipt ->> 'enterprise');
begin
  return (select r.id from capacity.requests r
           where r.id = upper(case p_receipt ->> 'kind'
                                when 'action' then p_receipt ->> 'value'
                                when 'submission' then inbound.form_metadata(p_receipt) ->> 'request'
                                when 'command' then substring(p_receipt ->> 'text' from '(?i)\mCR-\d{4}-\d{6,}') end)
             and r.workspace_id = v_home);
end
$$;
comment on function inbound.named_request(jsonb) is 'The request of its workspace that a receipt names. Nullable: result.';
