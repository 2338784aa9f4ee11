-- What a form sent, as texts: only the fields of the step, each cut off beyond the length of any valid answer. Pure.
create or replace function billing.entered_values(p_terms jsonb, p_values jsonb) returns jsonb
language sql immutable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(k, left(p_values ->> k, 400)), '{}') from jsonb_object_keys(p_terms) k where p_values ->> k is not null;
$$;
comment on function billing.entered_values(jsonb, jsonb) is 'What was entered in the fields of a step.';
