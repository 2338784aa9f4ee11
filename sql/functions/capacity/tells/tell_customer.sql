-- Mails something to the customer of a request, with their link if the message has one. A message whose link has expired is not
-- sent.
create or replace function capacity.tell_customer(p_context capacity.context, p_story jsonb, p_rule capacity.tell, p_key text)
returns integer
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_request capacity.requests := p_context.request;
  v_content notify.content := capacity.content_of(p_context, p_rule, capacity.tell_values(p_story, p_rule.template, null));
  v_links boolean := p_rule.template in ('offer', 'warning', 'payment_failed');
begin
  if v_links then
    v_content.expires_at := v_request.next_deadline_at;
    p_story := p_story || jsonb_build_object('public_url', p_context.public_url, 'token_id', (
      select t.id from capacity.confirmation_tokens t where t.request_id = v_request.id and t.revoked_at is null));
  end if;
  v_content.link := capacity.tell_link(p_story, p_rule.template);
  perform notify.tell(
    notify.recipient(v_request.workspace_id, 'customer', v_request.id, p_context.customer_address #>> '{}',
                     (p_context.personal).customer_ref ->> 'name'),
    p_key, v_content);
  return 1;
end
$$;
comment on function capacity.tell_customer(capacity.context, jsonb, capacity.tell, text) is 'Notifies a customer by mail.';
