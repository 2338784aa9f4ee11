-- Since when a token or a session is valid: the time of the sign-in, which a renewed session keeps; otherwise when it was issued. Without
-- either it is treated as older than everything. Never raises, whatever the claims contain.
create or replace function directory.issued_at(p_claims jsonb) returns timestamptz
language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$
declare
  v_at jsonb := coalesce(p_claims -> 'signed_in_at', p_claims -> 'iat');
begin
  return case when jsonb_typeof(v_at) = 'number' then to_timestamp(least(greatest(v_at::numeric, 0), 1e10)::double precision)
              else '-infinity' end;
end
$$;
comment on function directory.issued_at(jsonb) is 'When the token or session of the claims was issued; -infinity where they do not say.';
