-- The form in which a domain is compared, or null if it is not a domain: ASCII labels of letters, digits and dashes, in lower case. Names
-- in other scripts are accepted in their xn-- form, which is what DNS is asked for, and are not decoded: one visible name has many
-- spellings in Unicode, and programs disagree about which are the same. An IP address is not a domain, nor is a name that ends in a dot.
--
-- Folded under "C", because lower() of other collations turns other letters into ASCII ones. src/db/address.ts has the same rule.
create or replace function headroom.canonical_domain(p_domain text) returns text
language plpgsql immutable parallel safe set search_path = pg_catalog, pg_temp
as $$
declare
  v_folded text collate "C" := lower(p_domain collate "C");
begin
  return case when length(v_folded) <= 253 and v_folded ~ '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?$'
              then v_folded end;
end
$$;
comment on function headroom.canonical_domain(text)
  is 'The form in which a domain is compared; null if it is not a domain. Nullable: p_domain, result.';
