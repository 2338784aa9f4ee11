-- What can be done for a customer who is not asked. The commands are Slack's, because that is where most people read it; `headroom
-- request` has the same words. Pure.
create or replace function capacity.unasked_remedy(p_unasked text, p_request_id text, p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_open boolean := p_state = 'CUSTOMER_CONFIRMATION_REQUIRED';
begin
  if p_unasked = 'erased' then
    return case when v_open then 'The commercial owner can record their answer.'
                else 'The commercial owner can record their answer then.' end;
  end if;
  return case when p_unasked in ('no_address', 'bad_address')
                then format('Add it%s with /capacity address %s name@example.com', case when v_open then ' and mail the link' end,
                            p_request_id)
              when p_unasked = 'mail_failed'
                then format('Mail it again with /capacity link %s, or to another address with /capacity address %s name@example.com',
                            p_request_id, p_request_id)
              when p_unasked = 'not_sent' then format('Mail it with /capacity link %s', p_request_id)
              when p_unasked = 'no_public_url'
                then 'An operator sets it with headroom policy settings --public-url'
                     || case when v_open then format('; then /capacity link %s mails the link', p_request_id) else '' end end
    || case when v_open then ', or record their answer as the commercial owner.' else '.' end;
end
$$;
comment on function capacity.unasked_remedy(text, text, text)
  is 'What to do about a customer who is not asked. Nullable: p_unasked, result.';
