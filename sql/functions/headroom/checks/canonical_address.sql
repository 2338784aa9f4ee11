-- The form in which an e-mail address is compared, or null if it is not an address: words joined by dots, an @ and a domain, all ASCII, in
-- lower case. Two spellings of one mailbox that nobody can tell apart would pass every limit and list that counts mailboxes, so only one
-- spelling is accepted: nothing quoted, no comment, no letter of another script, nothing invisible. Mail goes to the address as it was
-- typed, because its server may care about case.
--
-- Addresses that were stored before this rule stay. They have no such form, so each is compared as it is, and equals only itself.
create or replace function headroom.canonical_address(p_address text) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_folded text collate "C" := lower(p_address collate "C");
  v_word constant text collate "C" := '[a-z0-9!#$%&''*+/=?^_`{|}~-]+';
begin
  return case when length(v_folded) <= 254 and v_folded ~ format('^%1$s(\.%1$s)*@[^@]+$', v_word)
                   and strpos(v_folded, '@') <= 65 and headroom.canonical_domain(split_part(v_folded, '@', 2)) is not null
              then v_folded end;
end
$$;
comment on function headroom.canonical_address(text)
  is 'The form in which an e-mail address is compared; null if it is not an address. Nullable: p_address, result.';
