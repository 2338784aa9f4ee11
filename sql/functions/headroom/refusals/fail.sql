-- The only way in which the database refuses. The SQLSTATE is PT and an HTTP status, which PostgREST answers with; the detail begins with
-- a code that programs can rely on (headroom.refusals), since several refusals share a status. Never 40001: that would be retried
-- endlessly.
create or replace function headroom.fail(p_code text, p_message text, p_facts text default null, p_hint text default null) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  -- A code that is not listed is a bug of ours.
  v_state text := 'PT' || coalesce((select r.status from headroom.refusals() r where r.code = p_code), 500);
  v_detail text := p_code || coalesce(': ' || p_facts, '');
begin
  -- An option of RAISE must not be null.
  if p_hint is null then
    raise exception using errcode = v_state, message = p_message, detail = v_detail;
  end if;
  raise exception using errcode = v_state, message = p_message, detail = v_detail, hint = p_hint;
end
$$;
comment on function headroom.fail(text, text, text, text)
  is 'Raises a refusal: a sentence for people, a code for programs, and the way out.';
