-- What can be done for a customer who is not asked. The commands are Slack's, because that is where most people read it; `headroom request`
-- has the same words. Pure.
create or replace function capacity.unasked_remedy(p_unasked text, p_request_id text, p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_open boolean := p_state = 'CUSTOMER_CONFIRMATION_REQUIRED';
begin
  return concat_ws(' ',
    case when p_unasked in ('no_address', 'bad_address')
           then format('/capacity address %s name@example.com adds it%s.', p_request_id, case when v_open then ' and sends the link' end)
         when p_unasked = 'mail_failed'
           then format('/capacity link %s sends it again, /capacity address %s name@example.com to another address.', p_request_id, p_request_id)
         when p_unasked = 'not_sent' then format('/capacity link %s sends it.', p_request_id)
         when p_unasked = 'no_public_url'
           then 'Whoever runs Headroom sets it (headroom policy settings --public-url)'
                || case when v_open then format('; then /capacity link %s sends the link.', p_request_id) else '.' end end,
    case when v_open and p_unasked is not null then 'Or the commercial owner records their answer.' end);
end
$$;
comment on function capacity.unasked_remedy(text, text, text) is 'What to do about a customer who is not asked. Nullable: p_unasked, result.';
