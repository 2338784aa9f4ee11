-- The request that a receipt of Slack names, if its workspace has one with that id: the button's, the form's, or the one in a command. It
-- says nothing about what the sender may do; the table of receipts stores it, so that the text of a refusal is found when the
-- request's customer is erased. Requests of other workspaces are ignored: this workspace's text must not be counted among theirs.
create or replace function inbound.named_request(p_receipt jsonb, p_workspace_id text) returns text
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_id text := upper(case p_receipt ->> 'kind'
    when 'action' then p_receipt ->> 'value'
    when 'submission' then inbound.form_metadata(p_receipt) ->> 'request'
    when 'command' then substring(p_receipt ->> 'text' from '(?i)\mCR-\d{4}-\d{6,}') end collate "C");
begin
  if v_id is null then
    return null;
  end if;
  return (select r.id from capacity.requests r where r.id = v_id and r.workspace_id = p_workspace_id);
end
$$;
comment on function inbound.named_request(jsonb, text)
  is 'The request of its workspace that a receipt names. Nullable: p_workspace_id, result.';
