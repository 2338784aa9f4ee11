-- The headers of the HTTP request, as PostgREST and our own gateway set them, by lower-case name; empty outside of a request.
create or replace function headroom.request_headers() returns jsonb
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_headers jsonb;
begin
  v_headers := nullif(current_setting('request.headers', true), '')::jsonb;
  return case when jsonb_typeof(v_headers) = 'object' then v_headers else '{}' end;
exception when data_exception or program_limit_exceeded then
  return '{}';
end
$$;
comment on function headroom.request_headers() is 'The headers of the current request, by lower-case name.';
