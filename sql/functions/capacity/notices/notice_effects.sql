-- Which side effects a notice has. A comment from Linear is not sent back there; text from Slack is sent to Slack, because only the sender
-- sees a command or a form. Notices about the customer's mail, the payment or the provisioning job change the thread's first
-- message. capacity.tells_of_notice() says who else is notified.
create or replace function capacity.notice_effects(p_context capacity.context, p_called text[], p_asked jsonb) returns text[]
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_effects text[] := '{}';
begin
  -- While colleagues see nothing of a request, there is no thread.
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
