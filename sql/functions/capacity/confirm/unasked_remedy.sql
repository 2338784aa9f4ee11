-- What can be done for a customer who is not asked, leaving out what would be refused: where paying is their answer (p_priced), nobody else
-- can give it, and the commercial owner can record only that they declined. The commands are Slack's, because most people read this
-- there; `headroom request` has the same words. Pure.
create or replace function capacity.unasked_remedy(p_unasked text, p_request_id text, p_state text, p_priced boolean) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_open boolean := p_state = 'CUSTOMER_CONFIRMATION_REQUIRED';
begin
  if p_unasked = 'erased' then
    return case when p_priced then 'Only the person with the link can pay. ' else '' end
      || format('The commercial owner can record %s%s.', case when p_priced then 'that they declined' else 'their answer' end,
                case when v_open then '' else ' then' end);
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
    || case when not v_open then '.' when p_priced then ', or record as the commercial owner that they declined.'
            else ', or record their answer as the commercial owner.' end;
end
$$;
comment on function capacity.unasked_remedy(text, text, text, boolean)
  is 'What to do about a customer who is not asked. Nullable: p_unasked, result.';
