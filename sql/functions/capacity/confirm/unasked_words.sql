-- A sentence, used on every surface, that the customer was not or will not be asked, and why. Pure.
create or replace function capacity.unasked_words(p_unasked text, p_state text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_state when 'CUSTOMER_CONFIRMATION_REQUIRED' then 'The customer has not been asked: '
                      when 'EXPIRED' then 'The customer was never asked: ' else 'The customer will not be asked by mail: ' end
    || case p_unasked when 'no_address' then 'their e-mail address is not known.'
                      when 'bad_address' then 'the given e-mail address is invalid.'
                      when 'no_public_url' then 'the workspace has no public address for their link.'
                      when 'mail_failed' then 'the mail with their link was not delivered.'
                      when 'not_sent' then 'no link has been sent to them yet.'
                      when 'erased' then 'their data has been erased.' end;
end
$$;
comment on function capacity.unasked_words(text, text) is 'Why a customer is not asked, in words. Nullable: p_unasked, result.';
