-- What a form of ours carries about where and why it was opened (private_metadata). Anything else in there, as in other apps'
-- forms, is treated as an empty object.
create or replace function inbound.form_metadata(p_receipt jsonb) returns jsonb
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
begin
  return inbound.parse_json(p_receipt ->> 'metadata');
exception when sqlstate 'PT400' then
  return '{}';
end
$$;
comment on function inbound.form_metadata(jsonb) is 'What a form says about where it was opened; empty where that is not JSON.';
