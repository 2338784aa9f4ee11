-- Which side effects a notice has. A comment in Linear is not sent back there; what is said in Slack is, because a command or a form is
-- seen by nobody but who sent it. Where no thread can be pinged, a nudge, and that a customer was not asked, goes by mail to those whom it
-- is meant for. A customer whose payment failed is asked once more. What concerns the customer's mail, the payment or the provisioning
-- job changes what the thread's first message says.
create or replace function capacity.notice_effects(p_request capacity.requests, p_kind text, p_via text, p_asked text[]) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
  v_workspace directory.workspaces;
begin
  select w.* into v_workspace from directory.workspaces w where w.id = p_request.workspace_id;
  -- There is no thread as yet.
  if capacity.is_quiet(p_request) then
    p_request.slack_channel_id := null;
  end if;
  if p_request.slack_channel_id is not null then
    v_effects := case when p_kind in ('unasked', 'address', 'link', 'job', 'payment', 'payment_failed')
                      then '{slack:root-update,slack:reply}' else '{slack:reply}' end;
  elsif p_kind in ('nudge', 'unasked', 'job', 'payment', 'payment_failed')
        or p_kind = 'warning' and capacity.unasked(p_request.id, p_request.state) is not null then
    v_effects := capacity.member_mails(v_workspace.id, p_asked);
  end if;
  if p_kind in ('note', 'job', 'payment', 'payment_failed') and p_via <> 'linear' and v_workspace.linear_team_id is not null
     and capacity.has_issue(p_request) then
    v_effects := v_effects || 'linear:comment'::text;
  end if;
  if p_kind in ('warning', 'address', 'link', 'payment_failed') and p_request.state = 'CUSTOMER_CONFIRMATION_REQUIRED'
     and v_workspace.public_url is not null and (p_kind = 'address' or capacity.email_of_customer(p_request.id) is not null) then
    v_effects := v_effects || case p_kind when 'warning' then 'email:warning' else 'email:confirmation' end;
  end if;
  return v_effects;
end
$$;
comment on function capacity.notice_effects(capacity.requests, text, text, text[]) is 'The names of a notice''s side effects.';
