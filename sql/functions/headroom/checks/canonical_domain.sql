-- A domain as it is compared, or null where it is none: ASCII labels of letters, digits and dashes, in lower case. Names in other scripts
-- are taken in their xn-- form, which is what DNS is asked for, and are not decoded: what reads as one name has many spellings in Unicode,
-- and programs disagree about which are one. An address of numbers is none, nor is a name that ends in a dot.
--
-- Folded under "C", because lower() of other collations makes ASCII letters of others. src/db/address.ts says the same.
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
  is 'The one form in which a domain is compared; null for what is none. Nullable: p_domain, result.';
