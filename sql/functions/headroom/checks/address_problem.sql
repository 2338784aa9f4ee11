-- The message for an address that is not accepted, or null. Letters outside ASCII get their own message, because they may look right.
create or replace function headroom.address_problem(p_address text) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when headroom.canonical_address(p_address) is not null then null
    when p_address collate "C" ~ '[^\u0001-\u007f]'
      then 'That is not an e-mail address in ASCII letters: it has others, perhaps invisible ones. A domain may have its xn-- form.'
    else 'That is not an e-mail address. Give one such as name@example.com.' end;
end
$$;
comment on function headroom.address_problem(text) is 'Why an address that somebody gives is not taken. Nullable: p_address, result.';
