-- Which side effects a notice has. A comment in Linear is not sent back there; what is said in Slack is, because a command or a form is
-- seen by nobody but who sent it. What concerns the customer's mail, the payment or the provisioning job changes what the thread's first
-- message says. Who is told besides, capacity.tells_of_notice() says.
create or replace function capacity.notice_effects(p_context capacity.context, p_called text[], p_asked jsonb) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
begin
  -- While colleagues hear nothing of a request, there is no thread.
  if (p_context.request).slack_channel_id is not null and not p_context.quiet then
    v_effects := case when p_context.cause in ('unasked', 'address', 'link', 'job', 'payment', 'payment_failed', 'refund')
                      then '{slack:root-update,slack:reply}' else '{slack:reply}' end;
  end if;
  if p_context.cause in ('note', 'job', 'payment', 'payment_failed', 'refund') and (p_context.actor).via <> 'linear'
     and p_context.has_issue then
    v_effects := v_effects || 'linear:comment'::text;
  end if;
  return v_effects || capacity.tells_of_notice(p_context, p_called, p_asked);
end
$$;
comment on function capacity.notice_effects(capacity.context, text[], jsonb) is 'The names of a notice''s side effects.';
