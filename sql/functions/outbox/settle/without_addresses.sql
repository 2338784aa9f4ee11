-- An error message as it is stored: at most 2000 characters, and no e-mail address, which receivers like to quote. It is erased with the
-- payload, but people who inspect a row before that need no address.
create or replace function outbox.without_addresses(p_message text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return case when strpos(p_message, '@') = 0 then left(p_message, 2000)
              else left(regexp_replace(left(p_message, 2000), '[^[:space:]<>"'';,]+@[^[:space:]<>"'';,]+', '(address)', 'g'), 2000) end;
end
$$;
comment on function outbox.without_addresses(text) is 'The message without e-mail addresses, cut to what is kept.';
