-- The fingerprint stored with an idempotency key: a hash of who asks for what, which tells a repeat from another request under the same
-- key.
--
-- The first twelve terms enter in their order, given or not, followed by customer_id if given. Terms added later enter by
-- name, and only if given: so the fingerprints of keys used before stay the same.
create or replace function capacity.fingerprint_of(p_actor_id text, p_terms capacity.terms) returns bytea
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  p_terms.estimated_monthly_cost_usd := trim_scale(p_terms.estimated_monthly_cost_usd);
  return sha256(convert_to((
    select jsonb_build_array(p_actor_id)
           || jsonb_agg(case when t.n <= 13 then t.value::jsonb else jsonb_build_object(t.name, t.value) end order by t.n)
      from json_each(row_to_json(p_terms)) with ordinality t(name, value, n)
     where t.n <= 12 or json_typeof(t.value) <> 'null')::text, 'UTF8'));
end
$$;
comment on function capacity.fingerprint_of(text, capacity.terms) is 'A hash of who asks for what.';
