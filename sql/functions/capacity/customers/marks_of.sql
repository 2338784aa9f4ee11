-- The marks that identify a customer: the keyed hash of the id and that of the address, as far as they are given. The address is
-- hashed in its canonical form; an old one that has none is hashed unchanged.
create or replace function capacity.marks_of(
  p_workspace_id text, p_customer_id text, p_address text, out by_id bytea, out by_address bytea
)
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := capacity.marking_key(p_workspace_id);
begin
  by_id := headroom.hmac_sha256(v_key, convert_to('id:' || p_customer_id, 'UTF8'));
  by_address := headroom.hmac_sha256(v_key, convert_to('address:' || coalesce(headroom.canonical_address(p_address), p_address), 'UTF8'));
end
$$;
comment on function capacity.marks_of(text, text, text)
  is 'The keyed hashes of a customer''s id and address. Nullable: p_customer_id, p_address, by_id, by_address.';
