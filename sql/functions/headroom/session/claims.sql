-- The claims of a verified token, in sessions whose login verifies tokens (claims_text.sql says which). Never raises: claims that cannot be
-- read are ignored.
create or replace function headroom.claims() returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims jsonb;
begin
  v_claims := nullif(headroom.claims_text(), '')::jsonb;
  return case when jsonb_typeof(v_claims) = 'object' then v_claims end;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;
comment on function headroom.claims() is 'The claims of a verified token, or null without one. Nullable: result.';
