-- Tells the customer of a request something by mail, with their link where the message has one. A link that has run out is not worth
-- sending.
create or replace function capacity.tell_customer(p_context capacity.context, p_story jsonb, p_rule capacity.tell, p_key text)
returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_text record := notify.filled(p_rule.title, p_rule.body, p_rule.their_title, p_rule.their_body,
                                 capacity.tell_values(p_story, p_rule.template, null));
  v_links boolean := p_rule.template in ('offer', 'warning', 'payment_failed');
begin
  if v_links then
    p_story := p_story || jsonb_build_object('public_url', p_context.public_url, 'token_id', (
      select t.id from capacity.confirmation_tokens t where t.request_id = v_request.id and t.revoked_at is null));
  end if;
  perform notify.tell(
    v_request.workspace_id, 'customer', v_request.id, p_key, p_rule.category, v_text.title, v_text.body,
    p_channels => p_rule.channels, p_priority => p_rule.priority, p_about => v_request.id, p_cause => p_context.cause,
    p_address => p_context.customer_address #>> '{}', p_name => (p_context.personal).customer_ref ->> 'name',
    p_link => capacity.tell_link(p_story, p_rule.template), p_expires_at => case when v_links then v_request.next_deadline_at end);
  return 1;
end
$$;
comment on function capacity.tell_customer(capacity.context, jsonb, capacity.tell, text) is 'Tells a customer something by mail.';
