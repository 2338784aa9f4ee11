-- The id in a field of Stripe's, which holds an id, or the object itself if it was expanded.
create or replace function billing.id_in(p_field jsonb) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return substring(case jsonb_typeof(p_field) when 'string' then p_field #>> '{}' when 'object' then p_field ->> 'id' end
                   from '^[A-Za-z0-9_]{1,200}$');
end
$$;
comment on function billing.id_in(jsonb) is 'The id in a field of an object of Stripe. Nullable: result.';
