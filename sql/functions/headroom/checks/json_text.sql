-- A text as it stands between the quotes of a JSON string.
create or replace function headroom.json_text(p_text text) returns text
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_json text := to_json(p_text);
begin
  return substr(v_json, 2, length(v_json) - 2);
end
$$;
comment on function headroom.json_text(text) is 'A text escaped for JSON, without the quotes. Nullable: result.';
