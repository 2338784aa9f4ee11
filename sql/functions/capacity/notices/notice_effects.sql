-- Which side effects a notice has. A comment in Linear is not sent back there; what is said in Slack is, because a command or a form is
-- seen by nobody but who sent it. What concerns the customer's mail, the payment or the provisioning job changes what the thread's first
-- message says. Who is told besides, capacity.tells_of_notice() says.
create or replace function capacity.notice_effects(p_request capacity.requests, p_kind text, p_actor capacity.actor, p_asked text[])
returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
begin
  -- There is no thread as yet.
  if capacity.is_quiet(p_request) then
    p_request.slack_channel_id := null;
  end if;
  if p_request.slack_channel_id is not null then
    v_effects := case when p_kind in ('unasked', 'address', 'link', 'job', 'payment', 'payment_failed', 'refund')
                      then '{slack:root-update,slack:reply}' else '{slack:reply}' end;
  end if;
  if p_kind in ('note', 'job', 'payment', 'payment_failed', 'refund') and p_actor.via <> 'linear' and capacity.has_issue(p_request)
     and (select w.linear_team_id from directory.workspaces w where w.id = p_request.workspace_id) is not null then
    v_effects := v_effects || 'linear:comment'::text;
  end if;
  return v_effects || capacity.tells_of_notice(p_request, p_kind, p_actor.id, p_asked);
end
$$;
comment on function capacity.notice_effects(capacity.requests, text, capacity.actor, text[]) is 'The names of a notice''s side effects.';
