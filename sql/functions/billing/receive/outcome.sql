-- The result of applying a report of Stripe's.
create or replace function billing.outcome(p_outcome text, p_request_id text default null) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object('outcome', p_outcome, 'request_id', p_request_id));
end
$$;
comment on function billing.outcome(text, text) is 'The outcome of a report of Stripe''s. Nullable: p_request_id.';
