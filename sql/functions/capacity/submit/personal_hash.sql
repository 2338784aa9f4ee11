-- The hash in the log of what personal_data holds about a request: over its salt, customer_ref, and an object with the other
-- given fields. Once the salt is gone the hash cannot confirm a guess. Null: nothing is stored, or it was erased.
create or replace function capacity.personal_hash(p_data capacity.personal_data) returns bytea
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return sha256(p_data.salt || convert_to(concat_ws(E'\n', p_data.customer_ref::text, nullif(
    jsonb_strip_nulls(to_jsonb(p_data) - '{request_id,salt,customer_ref,erased_at}'::text[]), '{}')::text), 'UTF8'));
end
$$;
comment on function capacity.personal_hash(capacity.personal_data) is 'The salted hash of a row. Nullable: result.';
