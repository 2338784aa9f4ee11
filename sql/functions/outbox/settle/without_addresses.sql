-- An error message as the archive keeps it: at most 2000 characters, and no e-mail address, which receivers like to quote. The archive is
-- never changed, so what must be erasable may not get in.
create or replace function outbox.without_addresses(p_message text) returns text
language plpgsql immutable strict parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return case when strpos(p_message, '@') = 0 then left(p_message, 2000)
              else regexp_replace(left(p_message, 2000), '[^[:space:]<>"'';,]+@[^[:space:]<>"'';,]+', '(address)', 'g') end;
end
$$;
comment on function outbox.without_addresses(text) is 'The message without e-mail addresses, cut to what a line of the archive holds.';
